package versions

import (
	"maps"
	"slices"
)

// A Kind is a kind of difference. A difference in what a peer takes can be
// harmless where the same in what it sends is breaking, so that there is a
// class for each.
type Kind struct {
	Name     string
	Sentence string // what has happened
	Params   Class  // the class of such a difference in params
	Result   Class  // the class of such a difference in results and events
}

type kind struct {
	sentence string
	class    Class // if it is the same in both directions, else ""
	params   Class
	result   Class
	gone     bool // what differs is only in the old catalog
}

// kinds is the table of all differences, by name. Differences that only widen
// or narrow a schema have two classes, one for each direction.
var kinds = map[string]kind{
	"dialect-changed":     {sentence: "the peer speaks another dialect", class: Breaking},
	"name-changed":        {sentence: "the peer has another name", class: Documentation},
	"version-changed":     {sentence: "the peer has another version", class: Documentation},
	"description-changed": {sentence: "a title, description, comment or example is another", class: Documentation},
	"extra-changed":       {sentence: "something that only the dialect knows is another", class: Documentation},

	"constant-added":   {sentence: "there is a new constant", class: Compatible},
	"constant-removed": {sentence: "a constant is gone", class: Breaking, gone: true},
	"constant-changed": {sentence: "a constant has another value", class: Breaking},

	"method-added":         {sentence: "there is a new method", class: Compatible},
	"method-removed":       {sentence: "a method is gone", class: Breaking, gone: true},
	"method-renamed":       {sentence: "a method is gone, and a new one of a similar name is like it", class: Breaking},
	"kind-changed":         {sentence: "a method answers in another way: a call became a stream, a job, a notification", class: Breaking},
	"effect-added":         {sentence: "a method does something that it did not say it did", class: Breaking},
	"effect-removed":       {sentence: "a method no longer does something", class: Compatible, gone: true},
	"hint-lost":            {sentence: "a promise such as readOnly is withdrawn", class: Breaking, gone: true},
	"hint-gained":          {sentence: "a promise such as readOnly is made", class: Compatible},
	"hint-changed":         {sentence: "a hint has another value", class: Documentation},
	"cache-longer":         {sentence: "a result may be kept longer than before", class: Compatible},
	"cache-shorter":        {sentence: "a result may be kept less long than before, or not at all", class: Compatible},
	"error-added":          {sentence: "a method may fail with a new error code", class: Compatible},
	"error-removed":        {sentence: "an error code is no longer among those of a method", class: Breaking, gone: true},
	"stream-changed":       {sentence: "the items of a stream come under another name, or with another kind of id", class: Breaking},
	"event-added":          {sentence: "a stream has a new type of event", class: Compatible},
	"event-removed":        {sentence: "a stream has a type of event less", class: Breaking, gone: true},
	"deprecated":           {sentence: "something is marked as deprecated", class: Documentation},
	"no-longer-deprecated": {sentence: "something is no longer marked as deprecated", class: Documentation},

	"class-added":      {sentence: "there is a new class", class: Compatible},
	"class-removed":    {sentence: "a class is gone", class: Breaking, gone: true},
	"class-changed":    {sentence: "a class is built in another way", class: Breaking},
	"member-added":     {sentence: "a class has a new property or method", class: Compatible},
	"member-removed":   {sentence: "a property or method of a class is gone", class: Breaking, gone: true},
	"member-read-only": {sentence: "a property can no longer be set", class: Breaking},
	"member-writable":  {sentence: "a property can be set now", class: Compatible},

	"schema-added":   {sentence: "what could be anything has a schema", params: Breaking, result: Compatible},
	"schema-removed": {sentence: "what had a schema may be anything", params: Compatible, result: Breaking, gone: true},

	"property-added":          {sentence: "there is a new property that may be left out", params: Compatible, result: Compatible},
	"property-added-required": {sentence: "there is a new property that must be given", params: Breaking, result: Compatible},
	"property-unforeseen":     {sentence: "there is a new property where no others were allowed", params: Compatible, result: Breaking},
	"property-removed":        {sentence: "a property is gone", params: Breaking, result: Breaking, gone: true},
	"property-renamed":        {sentence: "a property is gone, and a new one of a similar name is like it", params: Breaking, result: Breaking},
	"property-required":       {sentence: "a property that could be left out must be given", params: Breaking, result: Compatible},
	"property-optional":       {sentence: "a property that had to be given may be left out", params: Compatible, result: Breaking},
	"extra-allowed":           {sentence: "properties or elements that are not named are allowed", params: Compatible, result: Breaking},
	"extra-forbidden":         {sentence: "properties or elements that are not named are no longer allowed", params: Breaking, result: Compatible},
	"element-added":           {sentence: "an array has a new element at its end", params: Compatible, result: Compatible},
	"element-removed":         {sentence: "an array lacks an element that it had", params: Breaking, result: Breaking, gone: true},

	"type-widened":  {sentence: "a value may be of further types", params: Compatible, result: Breaking},
	"type-narrowed": {sentence: "a value may be of fewer types", params: Breaking, result: Compatible},
	"type-changed":  {sentence: "a value is of another type", params: Breaking, result: Breaking},

	"enum-added":         {sentence: "a value is now one of a list", params: Breaking, result: Compatible},
	"enum-removed":       {sentence: "a value is no longer one of a list", params: Compatible, result: Breaking, gone: true},
	"enum-value-added":   {sentence: "a list of values has grown", params: Compatible, result: Breaking},
	"enum-value-removed": {sentence: "a list of values has shrunk", params: Breaking, result: Compatible, gone: true},

	"range-widened":    {sentence: "a number may be smaller or greater than it could", params: Compatible, result: Breaking},
	"range-narrowed":   {sentence: "a number may no longer be as small or great as it could", params: Breaking, result: Compatible},
	"length-widened":   {sentence: "a text may be shorter or longer than it could", params: Compatible, result: Breaking},
	"length-narrowed":  {sentence: "a text may no longer be as short or long as it could", params: Breaking, result: Compatible},
	"size-widened":     {sentence: "an array or object may have fewer or more members than it could", params: Compatible, result: Breaking},
	"size-narrowed":    {sentence: "an array or object may no longer have as few or many members as it could", params: Breaking, result: Compatible},
	"pattern-added":    {sentence: "a text must match a pattern", params: Breaking, result: Compatible},
	"pattern-removed":  {sentence: "a text need no longer match a pattern", params: Compatible, result: Breaking, gone: true},
	"pattern-changed":  {sentence: "a text must match another pattern", params: Breaking, result: Breaking},
	"format-added":     {sentence: "a text must have a format", params: Breaking, result: Compatible},
	"format-removed":   {sentence: "a text need no longer have a format", params: Compatible, result: Breaking, gone: true},
	"format-changed":   {sentence: "a text has another format", params: Breaking, result: Breaking},
	"multiple-added":   {sentence: "a number must be a multiple", params: Breaking, result: Compatible},
	"multiple-removed": {sentence: "a number need no longer be a multiple", params: Compatible, result: Breaking, gone: true},
	"multiple-changed": {sentence: "a number must be a multiple of another one", params: Breaking, result: Breaking},
	"unique-added":     {sentence: "the elements of an array must differ", params: Breaking, result: Compatible},
	"unique-removed":   {sentence: "the elements of an array may be alike", params: Compatible, result: Breaking, gone: true},

	"alternative-added":   {sentence: "a value has a further form", params: Compatible, result: Breaking},
	"alternative-removed": {sentence: "a value has a form less", params: Breaking, result: Compatible, gone: true},
	"condition-added":     {sentence: "a further condition must hold", params: Breaking, result: Compatible},
	"condition-removed":   {sentence: "a condition need no longer hold", params: Compatible, result: Breaking, gone: true},
	"condition-changed":   {sentence: "another condition must hold", params: Breaking, result: Breaking},

	"default-changed": {sentence: "what is left out means something else", params: Breaking, result: Documentation},
	"default-added":   {sentence: "it is said what is meant by leaving something out", params: Compatible, result: Documentation},
	"default-removed": {sentence: "it is no longer said what is meant by leaving something out", params: Breaking, result: Documentation, gone: true},
}

// Kinds lists all kinds of difference by name.
func Kinds() []Kind {
	var all []Kind
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[name]
		both := Kind{Name: name, Sentence: k.sentence, Params: k.params, Result: k.result}
		if k.class != "" {
			both.Params, both.Result = k.class, k.class
		}
		all = append(all, both)
	}
	return all
}
