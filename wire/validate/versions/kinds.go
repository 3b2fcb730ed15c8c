package versions

import (
	"maps"
	"slices"
)

// A Kind is a kind of difference. A difference in what a peer takes can be
// harmless where the same in what it sends is breaking: one that only widens or
// narrows a schema has a class for each direction.
type Kind struct {
	Name     string
	Sentence string // what has happened
	Class    Class  // if it is the same in both directions, else ""
	Params   Class  // the class of such a difference in params
	Result   Class  // the class of such a difference in results and events
	gone     bool   // what differs is only in the old catalog
}

// kinds is the table of all differences, by name.
var kinds = map[string]Kind{
	"dialect-changed":     {Sentence: "the peer speaks another dialect", Class: Breaking},
	"name-changed":        {Sentence: "the peer has another name", Class: Documentation},
	"version-changed":     {Sentence: "the peer has another version", Class: Documentation},
	"description-changed": {Sentence: "a title, description, comment or example is another", Class: Documentation},
	"extra-changed":       {Sentence: "something that only the dialect knows is another", Class: Documentation},

	"constant-added":   {Sentence: "there is a new constant", Class: Compatible},
	"constant-removed": {Sentence: "a constant is gone", Class: Breaking, gone: true},
	"constant-changed": {Sentence: "a constant has another value", Class: Breaking},

	"method-added":         {Sentence: "there is a new method", Class: Compatible},
	"method-removed":       {Sentence: "a method is gone", Class: Breaking, gone: true},
	"method-renamed":       {Sentence: "a method is gone, and a new one is like it", Class: Breaking},
	"kind-changed":         {Sentence: "a method answers in another way: a call became a stream, a job, a notification", Class: Breaking},
	"effect-added":         {Sentence: "a method does something that it did not say it did", Class: Breaking},
	"effect-removed":       {Sentence: "a method no longer does something", Class: Compatible, gone: true},
	"hint-lost":            {Sentence: "a promise such as readOnly is withdrawn", Class: Breaking, gone: true},
	"hint-gained":          {Sentence: "a promise such as readOnly is made", Class: Compatible},
	"hint-changed":         {Sentence: "a hint has another value", Class: Documentation},
	"cache-longer":         {Sentence: "a result may be kept longer than before", Class: Compatible},
	"cache-shorter":        {Sentence: "a result may be kept less long than before, or not at all", Class: Compatible},
	"error-added":          {Sentence: "a method may fail with a new error code", Class: Compatible},
	"error-removed":        {Sentence: "an error code is no longer among those of a method", Class: Breaking, gone: true},
	"stream-changed":       {Sentence: "the items of a stream come under another name, or with another kind of id", Class: Breaking},
	"event-added":          {Sentence: "a stream has a new type of event", Class: Compatible},
	"event-removed":        {Sentence: "a stream has a type of event less", Class: Breaking, gone: true},
	"deprecated":           {Sentence: "something is marked as deprecated", Class: Documentation},
	"no-longer-deprecated": {Sentence: "something is no longer marked as deprecated", Class: Documentation},

	"class-added":      {Sentence: "there is a new class", Class: Compatible},
	"class-removed":    {Sentence: "a class is gone", Class: Breaking, gone: true},
	"class-changed":    {Sentence: "a class is built in another way", Class: Breaking},
	"member-added":     {Sentence: "a class has a new property or method", Class: Compatible},
	"member-renamed":   {Sentence: "a property or method of a class is gone, and a new one is like it", Class: Breaking},
	"member-removed":   {Sentence: "a property or method of a class is gone", Class: Breaking, gone: true},
	"member-read-only": {Sentence: "a property can no longer be set", Class: Breaking},
	"member-writable":  {Sentence: "a property can be set now", Class: Compatible},

	"schema-added":   {Sentence: "what could be anything has a schema", Params: Breaking, Result: Compatible},
	"schema-removed": {Sentence: "what had a schema may be anything", Params: Compatible, Result: Breaking, gone: true},

	"property-added":          {Sentence: "there is a new property that may be left out", Params: Compatible, Result: Compatible},
	"property-added-required": {Sentence: "there is a new property that must be given", Params: Breaking, Result: Compatible},
	"property-unforeseen":     {Sentence: "there is a new property where no others were allowed", Params: Compatible, Result: Breaking},
	"property-removed":        {Sentence: "a property is gone", Params: Breaking, Result: Breaking, gone: true},
	"property-renamed":        {Sentence: "a property is gone, and a new one is like it", Params: Breaking, Result: Breaking},
	"property-required":       {Sentence: "a property that could be left out must be given", Params: Breaking, Result: Compatible},
	"property-optional":       {Sentence: "a property that had to be given may be left out", Params: Compatible, Result: Breaking},
	"extra-allowed":           {Sentence: "properties or elements that are not named are allowed", Params: Compatible, Result: Breaking},
	"extra-forbidden":         {Sentence: "properties or elements that are not named are no longer allowed", Params: Breaking, Result: Compatible},
	"element-added":           {Sentence: "an array has a new element at its end", Params: Compatible, Result: Compatible},
	"element-moved":           {Sentence: "a parameter that is given by position has another one", Class: Breaking},
	"element-removed":         {Sentence: "an array lacks an element that it had", Params: Breaking, Result: Breaking, gone: true},

	"type-widened":  {Sentence: "a value may be of further types", Params: Compatible, Result: Breaking},
	"type-narrowed": {Sentence: "a value may be of fewer types", Params: Breaking, Result: Compatible},
	"type-changed":  {Sentence: "a value is of another type", Params: Breaking, Result: Breaking},

	"enum-added":         {Sentence: "a value is now one of a list", Params: Breaking, Result: Compatible},
	"enum-removed":       {Sentence: "a value is no longer one of a list", Params: Compatible, Result: Breaking, gone: true},
	"enum-value-added":   {Sentence: "a list of values has grown", Params: Compatible, Result: Breaking},
	"enum-value-removed": {Sentence: "a list of values has shrunk", Params: Breaking, Result: Compatible, gone: true},

	"range-widened":    {Sentence: "a number may be smaller or greater than it could", Params: Compatible, Result: Breaking},
	"range-narrowed":   {Sentence: "a number may no longer be as small or great as it could", Params: Breaking, Result: Compatible},
	"length-widened":   {Sentence: "a text may be shorter or longer than it could", Params: Compatible, Result: Breaking},
	"length-narrowed":  {Sentence: "a text may no longer be as short or long as it could", Params: Breaking, Result: Compatible},
	"size-widened":     {Sentence: "an array or object may have fewer or more members than it could", Params: Compatible, Result: Breaking},
	"size-narrowed":    {Sentence: "an array or object may no longer have as few or many members as it could", Params: Breaking, Result: Compatible},
	"pattern-added":    {Sentence: "a text must match a pattern", Params: Breaking, Result: Compatible},
	"pattern-removed":  {Sentence: "a text need no longer match a pattern", Params: Compatible, Result: Breaking, gone: true},
	"pattern-changed":  {Sentence: "a text must match another pattern", Params: Breaking, Result: Breaking},
	"format-added":     {Sentence: "a text must have a format", Params: Breaking, Result: Compatible},
	"format-removed":   {Sentence: "a text need no longer have a format", Params: Compatible, Result: Breaking, gone: true},
	"format-changed":   {Sentence: "a text has another format", Params: Breaking, Result: Breaking},
	"multiple-added":   {Sentence: "a number must be a multiple", Params: Breaking, Result: Compatible},
	"multiple-removed": {Sentence: "a number need no longer be a multiple", Params: Compatible, Result: Breaking, gone: true},
	"multiple-changed": {Sentence: "a number must be a multiple of another one", Params: Breaking, Result: Breaking},
	"unique-added":     {Sentence: "the elements of an array must differ", Params: Breaking, Result: Compatible},
	"unique-removed":   {Sentence: "the elements of an array may be alike", Params: Compatible, Result: Breaking, gone: true},

	"alternative-added":   {Sentence: "a value has a further form", Params: Compatible, Result: Breaking},
	"alternative-removed": {Sentence: "a value has a form less", Params: Breaking, Result: Compatible, gone: true},
	"condition-added":     {Sentence: "a further condition must hold", Params: Breaking, Result: Compatible},
	"condition-removed":   {Sentence: "a condition need no longer hold", Params: Compatible, Result: Breaking, gone: true},
	"condition-changed":   {Sentence: "another condition must hold", Params: Breaking, Result: Breaking},

	"default-changed": {Sentence: "what is left out means something else", Params: Breaking, Result: Documentation},
	"default-added":   {Sentence: "it is said what is meant by leaving something out", Params: Compatible, Result: Documentation},
	"default-removed": {Sentence: "it is no longer said what is meant by leaving something out", Params: Breaking, Result: Documentation, gone: true},
}

// Kinds lists all kinds of difference by name.
func Kinds() []Kind {
	var all []Kind
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[name]
		k.Name = name
		all = append(all, k)
	}
	return all
}
