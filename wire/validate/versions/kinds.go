package versions

import (
	"maps"
	"slices"
)

// A Kind is a kind of difference. The same difference can be harmless in params and breaking in results. A kind that
// widens or narrows a schema therefore has one class for params and one for results.
type Kind struct {
	Name     string
	Sentence string // a sentence that describes the difference
	Class    Class  // the class in params and results, or "" if the classes differ
	Params   Class  // the class in params
	Result   Class  // the class in results and events
	onlyOld  bool   // the place of the difference exists only in the old catalog
}

// kinds lists all kinds of difference by name.
var kinds = map[string]Kind{
	"dialect-changed":     {Sentence: "the peer uses a different dialect", Class: Breaking},
	"name-changed":        {Sentence: "the peer has a different name", Class: Documentation},
	"version-changed":     {Sentence: "the peer has a different version", Class: Documentation},
	"description-changed": {Sentence: "a title, description, comment or example has changed", Class: Documentation},
	"extra-changed":       {Sentence: "a dialect-specific member has changed", Class: Documentation},

	"constant-added":   {Sentence: "a constant was added", Class: Compatible},
	"constant-removed": {Sentence: "a constant was removed", Class: Breaking, onlyOld: true},
	"constant-changed": {Sentence: "a constant has a different value", Class: Breaking},

	"method-added":         {Sentence: "a method was added", Class: Compatible},
	"method-removed":       {Sentence: "a method was removed", Class: Breaking, onlyOld: true},
	"method-renamed":       {Sentence: "a method was removed, and a similar one was added", Class: Breaking},
	"kind-changed":         {Sentence: "the kind of a method has changed, for example from a call to a stream", Class: Breaking},
	"effect-added":         {Sentence: "a method has an effect that it did not declare before", Class: Breaking},
	"effect-removed":       {Sentence: "a method no longer has an effect", Class: Compatible, onlyOld: true},
	"hint-lost":            {Sentence: "a hint such as readOnly was removed", Class: Breaking, onlyOld: true},
	"hint-gained":          {Sentence: "a hint such as readOnly was added", Class: Compatible},
	"hint-changed":         {Sentence: "a hint has a different value", Class: Documentation},
	"cache-longer":         {Sentence: "a result may be cached longer than before", Class: Compatible},
	"cache-shorter":        {Sentence: "a result may be cached for a shorter time than before, or not at all", Class: Compatible},
	"error-added":          {Sentence: "a method may fail with a new error code", Class: Compatible},
	"error-removed":        {Sentence: "a method no longer lists an error code", Class: Breaking, onlyOld: true},
	"stream-changed":       {Sentence: "the items of a stream have a different name, or its subscription id has a different form", Class: Breaking},
	"event-added":          {Sentence: "a stream has a new type of event", Class: Compatible},
	"event-removed":        {Sentence: "a stream no longer has a type of event", Class: Breaking, onlyOld: true},
	"deprecated":           {Sentence: "an element is marked as deprecated", Class: Documentation},
	"no-longer-deprecated": {Sentence: "an element is no longer marked as deprecated", Class: Documentation},

	"class-added":      {Sentence: "a class was added", Class: Compatible},
	"class-removed":    {Sentence: "a class was removed", Class: Breaking, onlyOld: true},
	"class-changed":    {Sentence: "the constructor of a class has changed", Class: Breaking},
	"member-added":     {Sentence: "a property or method was added to a class", Class: Compatible},
	"member-renamed":   {Sentence: "a property or method of a class was removed, and a similar one was added", Class: Breaking},
	"member-removed":   {Sentence: "a property or method of a class was removed", Class: Breaking, onlyOld: true},
	"member-read-only": {Sentence: "a property can no longer be set", Class: Breaking},
	"member-writable":  {Sentence: "a property can now be set", Class: Compatible},

	"schema-added":   {Sentence: "a value without a schema has one now", Params: Breaking, Result: Compatible},
	"schema-removed": {Sentence: "a value with a schema no longer has one", Params: Compatible, Result: Breaking, onlyOld: true},

	"property-added":          {Sentence: "an optional property was added", Params: Compatible, Result: Compatible},
	"property-added-required": {Sentence: "a required property was added", Params: Breaking, Result: Compatible},
	"property-unforeseen":     {Sentence: "a property was added to a schema that did not allow additional properties", Params: Compatible, Result: Breaking},
	"property-removed":        {Sentence: "a property was removed", Params: Breaking, Result: Breaking, onlyOld: true},
	"property-renamed":        {Sentence: "a property was removed, and a similar one was added", Params: Breaking, Result: Breaking},
	"property-required":       {Sentence: "an optional property is now required", Params: Breaking, Result: Compatible},
	"property-optional":       {Sentence: "a required property is now optional", Params: Compatible, Result: Breaking},
	"extra-allowed":           {Sentence: "undeclared properties or elements are now allowed", Params: Compatible, Result: Breaking},
	"extra-forbidden":         {Sentence: "undeclared properties or elements are no longer allowed", Params: Breaking, Result: Compatible},
	"element-added":           {Sentence: "an element was added at the end of an array", Params: Compatible, Result: Compatible},
	"element-moved":           {Sentence: "a positional parameter has a different position", Class: Breaking},
	"element-removed":         {Sentence: "an element was removed from an array", Params: Breaking, Result: Breaking, onlyOld: true},

	"type-widened":  {Sentence: "more types are allowed for a value", Params: Compatible, Result: Breaking},
	"type-narrowed": {Sentence: "fewer types are allowed for a value", Params: Breaking, Result: Compatible},
	"type-changed":  {Sentence: "a value has a different type", Params: Breaking, Result: Breaking},

	"enum-added":         {Sentence: "a value is now restricted to a list of allowed values", Params: Breaking, Result: Compatible},
	"enum-removed":       {Sentence: "a value is no longer restricted to a list of allowed values", Params: Compatible, Result: Breaking, onlyOld: true},
	"enum-value-added":   {Sentence: "a value was added to a list of allowed values", Params: Compatible, Result: Breaking},
	"enum-value-removed": {Sentence: "a value was removed from a list of allowed values", Params: Breaking, Result: Compatible, onlyOld: true},

	"range-widened":    {Sentence: "a number has a wider range", Params: Compatible, Result: Breaking},
	"range-narrowed":   {Sentence: "a number has a narrower range", Params: Breaking, Result: Compatible},
	"length-widened":   {Sentence: "a string has a wider range of lengths", Params: Compatible, Result: Breaking},
	"length-narrowed":  {Sentence: "a string has a narrower range of lengths", Params: Breaking, Result: Compatible},
	"size-widened":     {Sentence: "an array or object has a wider range of sizes", Params: Compatible, Result: Breaking},
	"size-narrowed":    {Sentence: "an array or object has a narrower range of sizes", Params: Breaking, Result: Compatible},
	"pattern-added":    {Sentence: "a string must now match a pattern", Params: Breaking, Result: Compatible},
	"pattern-removed":  {Sentence: "a string no longer has to match a pattern", Params: Compatible, Result: Breaking, onlyOld: true},
	"pattern-changed":  {Sentence: "a string must now match a different pattern", Params: Breaking, Result: Breaking},
	"format-added":     {Sentence: "a string must now have a certain format", Params: Breaking, Result: Compatible},
	"format-removed":   {Sentence: "a string no longer has to have a format", Params: Compatible, Result: Breaking, onlyOld: true},
	"format-changed":   {Sentence: "a string has a different format", Params: Breaking, Result: Breaking},
	"multiple-added":   {Sentence: "a number must now be a multiple of a given number", Params: Breaking, Result: Compatible},
	"multiple-removed": {Sentence: "a number no longer has to be a multiple of a given number", Params: Compatible, Result: Breaking, onlyOld: true},
	"multiple-changed": {Sentence: "a number must now be a multiple of a different number", Params: Breaking, Result: Breaking},
	"unique-added":     {Sentence: "the elements of an array must now be unique", Params: Breaking, Result: Compatible},
	"unique-removed":   {Sentence: "the elements of an array no longer have to be unique", Params: Compatible, Result: Breaking, onlyOld: true},

	"alternative-added":   {Sentence: "an alternative form of a value was added", Params: Compatible, Result: Breaking},
	"alternative-removed": {Sentence: "an alternative form of a value was removed", Params: Breaking, Result: Compatible, onlyOld: true},
	"condition-added":     {Sentence: "an additional condition now applies", Params: Breaking, Result: Compatible},
	"condition-removed":   {Sentence: "a condition no longer applies", Params: Compatible, Result: Breaking, onlyOld: true},
	"condition-changed":   {Sentence: "a different condition now applies", Params: Breaking, Result: Breaking},

	"default-changed": {Sentence: "a default has changed", Params: Breaking, Result: Documentation},
	"default-added":   {Sentence: "a default was added", Params: Compatible, Result: Documentation},
	"default-removed": {Sentence: "a default was removed", Params: Breaking, Result: Documentation, onlyOld: true},
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
