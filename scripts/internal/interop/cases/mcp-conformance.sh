#!/usr/bin/env bash
# the official MCP conformance suite with a directory of hooks as the server
. "$INTEROP/lib.sh"
needs_packages
needs jq

suite() { "$INTEROP/clients/suite.sh" "$@"; }

# hook NAME: installs the script on stdin as the hook NAME.
hook() {
  mkdir -p "$(dirname "hooks/$1")"
  { echo '#!/bin/sh'; cat; } >"hooks/$1"
  chmod 755 "hooks/$1"
}

# says NAME VALUE: installs a hook NAME that returns VALUE.
says() { hook "$1" <<<"cat <<'JSON'"$'\n'"$2"$'\nJSON'; }

# tool NAME [PARAMS]: adds the tool to the catalog.
tool() { jq -nc --arg name "$1" --argjson params "${2:-{\}}" '{description: "What the suite calls \($name)", params: ({type: "object"} + $params)}' >"hooks/$1.json"; }

png=iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==
wav=UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==

says test_simple_text '"This is a simple text response for testing."'
says test_image_content '{"content":[{"type":"image","data":"'$png'","mimeType":"image/png"}]}'
says test_audio_content '{"content":[{"type":"audio","data":"'$wav'","mimeType":"audio/wav"}]}'
says test_embedded_resource '{"content":[{"type":"resource","resource":{"uri":"test://embedded-resource","mimeType":"text/plain","text":"This is an embedded resource content."}}]}'
says test_multiple_content_types '{"content":[{"type":"text","text":"Multiple content types test:"},{"type":"image","data":"'$png'","mimeType":"image/png"},
  {"type":"resource","resource":{"uri":"test://mixed-content-resource","mimeType":"application/json","text":"{\"test\":\"data\",\"value\":123}"}}]}'
hook test_error_handling <<<'echo "This tool intentionally returns an error for testing" >&2; exit 1'
hook test_sampling <<'SH2'
jq -c '{messages: [{role: "user", content: {type: "text", text: .prompt}}], maxTokens: 100}' |
  rpcx call @ sampling/createMessage - -q '"LLM response: \(.content.text)"'
SH2
hook test_elicitation <<'SH2'
jq -c '{message, requestedSchema: {type: "object", required: ["username", "email"], properties: {
  username: {type: "string", description: "the name"}, email: {type: "string", description: "the address"}}}}' |
  rpcx call @ elicitation/create - -q '"User response: action=\(.action), content=\(.content)"'
SH2
hook test_elicitation_sep1034_defaults <<'SH2'
rpcx call @ elicitation/create '{"message":"defaults","requestedSchema":{"type":"object","properties":{
  "name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
  "status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}}' \
  -q '"Elicitation completed: action=\(.action), content=\(.content)"'
SH2
hook test_elicitation_sep1330_enums <<'SH2'
rpcx call @ elicitation/create '{"message":"enums","requestedSchema":{"type":"object","properties":{
  "untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
  "titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
  "legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
  "untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
  "titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}}' \
  -q '"Elicitation completed: action=\(.action), content=\(.content)"'
SH2
for name in test_simple_text test_image_content test_audio_content test_embedded_resource test_multiple_content_types \
  test_error_handling test_elicitation_sep1034_defaults test_elicitation_sep1330_enums; do tool "$name"; done
tool test_sampling '{"required":["prompt"],"properties":{"prompt":{"type":"string"}}}'
tool test_elicitation '{"required":["message"],"properties":{"message":{"type":"string"}}}'

says json_schema_2020_12_tool '"ok"'
tool json_schema_2020_12_tool '{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
  "properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
  "allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
  "then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}'

says completion/complete '{"completion":{"values":["paris","park","party"],"total":3,"hasMore":false}}'
says resources/list '{"resources":[{"uri":"test://static-text","name":"text","description":"a text","mimeType":"text/plain"},
  {"uri":"test://static-binary","name":"binary","description":"a picture","mimeType":"image/png"},
  {"uri":"test://watched-resource","name":"watched","description":"one that changes","mimeType":"text/plain"}]}'
says resources/templates/list '{"resourceTemplates":[{"uriTemplate":"test://template/{id}/data","name":"template","description":"data of an id","mimeType":"application/json"}]}'
hook resources/read <<SH2
params=\$(cat)
case \$params in *test://static-*|*test://watched-*|*test://template/*) ;;
  *) printf %s "\$params" | jq -c '{code: -32602, message: "Resource not found", data: {uri}}'; exit 1 ;;
esac
printf %s "\$params" | jq -c '.uri as \$uri | if \$uri == "test://static-text" then {contents: [{uri: \$uri, mimeType: "text/plain", text: "This is the content of the static text resource."}]}
  elif \$uri == "test://static-binary" then {contents: [{uri: \$uri, mimeType: "image/png", blob: "$png"}]}
  elif \$uri == "test://watched-resource" then {contents: [{uri: \$uri, mimeType: "text/plain", text: "watched"}]}
  else (\$uri | capture("^test://template/(?<id>[^/]+)/data\$").id) as \$id
  | {contents: [{uri: \$uri, mimeType: "application/json", text: ({id: \$id, templateTest: true, data: "Data for ID: \(\$id)"} | tojson)}]} end'
SH2
says resources/subscribe '{}'
says resources/unsubscribe '{}'

says prompts/list '{"prompts":[{"name":"test_simple_prompt","description":"a simple one"},
  {"name":"test_prompt_with_arguments","description":"one with arguments","arguments":[{"name":"arg1","description":"the first","required":true},{"name":"arg2","description":"the second","required":true}]},
  {"name":"test_prompt_with_embedded_resource","description":"one with a resource","arguments":[{"name":"resourceUri","description":"its address","required":true}]},
  {"name":"test_prompt_with_image","description":"one with a picture"},{"name":"test_input_required_result_prompt","description":"one that asks"}]}'
hook prompts/get <<SH2
params=\$(cat)
case \$params in *test_input_required_result_prompt*) exec rpcx call @ elicitation/create '{"message":"Which context?","requestedSchema":{"type":"object","required":["context"],"properties":{"context":{"type":"string"}}}}' \
  -q '{messages: [{role: "user", content: {type: "text", text: "\(.content.context)"}}]}' ;; esac
printf %s "\$params" | jq -c 'def text(\$t): {role: "user", content: {type: "text", text: \$t}};
  .arguments as \$a | {messages: (if .name == "test_simple_prompt" then [text("This is a simple prompt for testing.")]
  elif .name == "test_prompt_with_arguments" then [text("Prompt with arguments: arg1=\u0027\(\$a.arg1)\u0027, arg2=\u0027\(\$a.arg2)\u0027")]
  elif .name == "test_prompt_with_image" then [{role: "user", content: {type: "image", data: "$png", mimeType: "image/png"}}, text("Please analyze the image above.")]
  else [{role: "user", content: {type: "resource", resource: {uri: \$a.resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing."}}},
    text("Please process the embedded resource above.")] end)}'
SH2

# The results of these tools are streams, which a directory of hooks alone cannot declare.
cat >more.json <<'JSON'
{"catalog":1,"methods":[
  {"name":"test_tool_with_logging","description":"logs","params":{"type":"object"},"run":"lines:for m in started processing completed; do echo '{\"log\":{\"level\":\"info\",\"message\":\"Tool '$m'\"}}'; sleep 0.05; done; echo '\"done\"'"},
  {"name":"test_tool_with_progress","description":"tells how far it is","params":{"type":"object"},"run":"lines:for f in 0.01 0.5 1; do echo '{\"progress\":\"on\",\"fraction\":'$f'}'; sleep 0.05; done; echo '\"done\"'"},
  {"name":"test_streaming_elicitation","description":"tells how far it is","params":{"type":"object"},"run":"lines:echo '{\"progress\":\"on\",\"fraction\":0.5}'; sleep 0.05; echo '\"done\"'"},
  {"name":"test_logging_tool","description":"logs","params":{"type":"object"},"run":"lines:echo '{\"log\":{\"level\":\"info\",\"message\":\"evaluated\"}}'; sleep 0.05; echo '\"done\"'"},
  {"name":"test_reconnection","description":"takes its time","params":{"type":"object"},"run":"sh:sleep 0.5; echo '\"done\"'"}]}
JSON

# These tools are for MCP 2026-07-28. A hook that asks questions is written in the same way for each version. In 2026-07-28, rpcx
# sends the questions as results.
elicits='{"message":"What is it?","requestedSchema":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}'
samples='{"messages":[{"role":"user","content":{"type":"text","text":"Say it"}}],"maxTokens":50}'
hook test_input_required_result_elicitation <<SH2
[ -n "\$RPCX_INPUT" ] && jq -e '"Hello, \(.inputResponses.user_name | objects | .content.name // empty)!"' "\$RPCX_INPUT" 2>/dev/null ||
  echo '{"resultType":"input_required","inputRequests":{"user_name":{"method":"elicitation/create","params":$elicits}}}'
SH2
hook test_input_required_result_sampling <<<"rpcx call @ sampling/createMessage '$samples' -q '\"Sampling result: \\(.content.text)\"'"
hook test_input_required_result_list_roots <<<"rpcx call @ roots/list '{}' -q '\"Found \\(.roots | length) root(s)\"'"
hook test_input_required_result_request_state <<<"rpcx call @ elicitation/create '$elicits' -q '\"state-ok: \\(.action)\"'"
hook test_input_required_result_tampered_state <<<"rpcx call @ elicitation/create '$elicits' -q '\"integrity-ok: \\(.action)\"'"
hook test_input_required_result_multiple_inputs <<SH2
rpcx call @ elicitation/create '$elicits' >name.json & name=\$!
rpcx call @ sampling/createMessage '$samples' >greeting.json & greeting=\$!
rpcx call @ roots/list '{}' >roots.json && wait \$name && wait \$greeting && echo '"all answered"'
SH2
hook test_input_required_result_multi_round <<SH2
name=\$(rpcx call @ elicitation/create '$elicits' -q .content.name) && color=\$(rpcx call @ elicitation/create '$elicits' -q .content.color) &&
  echo "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}],\"_meta\":{\"name\":\$name,\"color\":\$color}}"
SH2
hook test_input_required_result_capabilities <<SH2
rpcx call @ sampling/createMessage '$samples' 2>/dev/null || rpcx call @ elicitation/create '$elicits' 2>/dev/null || echo '"none"'
SH2
hook test_missing_capability <<<"rpcx call @ sampling/createMessage '$samples'"
hook test_trigger_tool_change <<<'rpcx call @ notifications/tools/list_changed --notify; echo "\"done\""'
hook test_trigger_prompt_change <<<'rpcx call @ notifications/prompts/list_changed --notify; echo "\"done\""'
for name in elicitation sampling list_roots request_state tampered_state multiple_inputs multi_round capabilities; do tool "test_input_required_result_$name"; done
for name in test_missing_capability test_trigger_tool_change test_trigger_prompt_change; do tool "$name"; done
# These tools run as tasks.
hook greet <<<"jq '\"Hello, \\(.name)!\"'"
hook slow_compute <<<"sleep \$(jq .seconds); echo '\"computed\"'"
hook failing_job <<<'sleep 1; echo "it failed" >&2; exit 1'
hook protocol_error_job <<<'sleep 0.3; kill -KILL $$'
hook confirm_delete <<SH2
rpcx call @ elicitation/create '{"message":"Delete?","requestedSchema":{"type":"object","properties":{"confirm":{"type":"boolean"}}}}' -q '"answer: \\(.action)"'
SH2
hook multi_input <<SH2
rpcx call @ elicitation/create '{"message":"One?","requestedSchema":{"type":"object","properties":{}}}' >/dev/null & one=\$!
rpcx call @ elicitation/create '{"message":"Two?","requestedSchema":{"type":"object","properties":{}}}' >/dev/null && wait \$one && echo '"both"'
SH2
hook test_tool_with_task <<SH2
if [ -z "\$RPCX_INPUT" ]; then
  echo '{"resultType":"input_required","inputRequests":{"user_name":{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}}}'
else
  sleep 0.5; jq '"Hello, \\(.inputResponses.user_name.content.name)!"' "\$RPCX_INPUT"
fi
SH2
tool greet '{"required":["name"],"properties":{"name":{"type":"string"}}}'
job() { jq -nc --arg name "$1" --argjson more "${2:-{\}}" '{kind: "job", description: "What the suite calls \($name)", params: {type: "object"}} + $more' >"hooks/$1.json"; }
for name in slow_compute protocol_error_job confirm_delete multi_input; do job "$name"; done
for name in failing_job test_tool_with_task; do job "$name" '{"extra":{"execution":{"taskSupport":"required"}}}'; done

says test_mirrored '"mirrored"'
tool test_mirrored '{"required":["region"],"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}'

start listening rpcx serve mcp+http://127.0.0.1:0/mcp --hooks hooks --hooks more.json
at=$(field listening)
expected=$INTEROP/mcp-conformance.yaml

passed=0
for version in '--requirements 2025-11-25' '--requirements 2026-07-28' '--spec-version 2025-06-18' '--spec-version 2025-03-26'; do
  # shellcheck disable=SC2086 # $version is two words
  if ! suite server --url "${at#mcp+}" $version --expected-failures "$expected" --output-dir out >suite.log 2>&1 || grep '^✗' suite.log >&2; then
    bad=1
    cat suite.log >&2
  fi
  passed=$((passed + $(grep -c '^✓' suite.log)))
done
ok "server, four versions and tasks: $passed scenarios"
stop

start listening rpcx serve mcp+http://127.0.0.1:0/mcp --hooks hooks --on 'resources/list=json:{"resources":[],"ttlMs":-1}'
at=$(field listening)
want 1 '' sh -c "'$INTEROP/clients/suite.sh' server --url '${at#mcp+}' --spec-version 2026-07-28 --scenario caching >defect.log 2>&1"
ok "the suite detects a planted defect in the server"
stop
