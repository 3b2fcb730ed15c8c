// A scripted model for Gemini CLI. In the first request of a turn, it calls the tool that the prompt names: greet of the MCP server
// "shell", or one that writes hello.txt in the given directory. Then it reports the result. A prompt with "be slow" gets half of a
// response. The port is printed on stdout.
import http from 'node:http'

const folder = process.argv[2]

const answer = (parts) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
})

function said(contents) {
  const last = contents.at(-1).parts
  const result = last.find((part) => part.functionResponse)
  if (result) {
    const { error, output } = result.functionResponse.response
    return [{ text: error ? 'It was refused.' : output.match(/Hello, \w+/)?.[0] ?? 'It is done.' }]
  }
  if (JSON.stringify(last).includes('greet Ada')) {
    return [{ text: 'I greet.' }, { functionCall: { id: 'f', name: 'mcp_shell_greet', args: { name: 'Ada' } } }]
  }
  return [{ text: 'I write it.' }, { functionCall: { id: 'f', name: 'write_file', args: { file_path: `${folder}/hello.txt`, content: 'hello\n' } } }]
}

const server = http.createServer((request, response) => {
  let body = ''
  request.on('data', (data) => { body += data })
  request.on('end', () => {
    if (!request.url.includes(':streamGenerateContent')) { // a request that selects the model
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answer([{ text: '{"reasoning":"it is easy","model_choice":"flash","complexity_reasoning":"it is easy","complexity_score":1}' }])))
      return
    }
    const { contents } = JSON.parse(body)
    response.setHeader('content-type', 'text/event-stream')
    if (JSON.stringify(contents.at(-1)).includes('be slow')) {
      response.write(`data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'I think' }] } }] })}\n\n`)
      return
    }
    response.end(`data: ${JSON.stringify(answer(said(contents)))}\n\n`)
  })
})
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
