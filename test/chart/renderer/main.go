// Renders a chart as Helm does, as far as charts/switchboard needs: text/template with Sprig, and the functions and objects that Helm adds
// (its packages engine and chartutil). Reads {"chart": folder, "release": name, "values": {...}} from standard input, and writes
// {"values": merged, "files": {name: text}, "objects": {name: [object]}}. A template that fails is its message and exit code 1.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type table = map[string]interface{}

// files are what a template gets as .Files: everything in the chart but its templates.
type files string

func (folder files) Get(name string) string {
	text, _ := os.ReadFile(filepath.Join(string(folder), name))
	return string(text)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func readYaml(file string) table {
	text, err := os.ReadFile(file)
	must(err)
	read := table{}
	must(yaml.UnmarshalStrict(text, &read))
	return read
}

// merge lays values over defaults; a null takes a default away.
func merge(defaults, values table) table {
	merged := table{}
	for key, value := range defaults {
		merged[key] = value
	}
	for key, value := range values {
		below, isTable := merged[key].(table)
		above, areTables := value.(table)
		if value == nil {
			delete(merged, key)
		} else if isTable && areTables {
			merged[key] = merge(below, above)
		} else {
			merged[key] = value
		}
	}
	return merged
}

func toYaml(value interface{}) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(text), "\n")
}

func required(message string, value interface{}) (interface{}, error) {
	if value == nil || value == "" {
		return value, errors.New(message)
	}
	return value, nil
}

// clean takes out what Go writes for a value that is not there.
func clean(text string) string { return strings.ReplaceAll(text, "<no value>", "") }

func parse(folder string) (*template.Template, []string) {
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["toYaml"] = toYaml
	functions["required"] = required
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	all.Funcs(functions)
	var names []string
	must(filepath.WalkDir(filepath.Join(folder, "templates"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(filepath.Join(folder, "templates"), path)
		if !strings.HasPrefix(filepath.Base(path), "_") {
			names = append(names, name)
		}
		template.Must(all.New("switchboard/templates/" + name).Parse(string(text)))
		return err
	}))
	return all, names
}

var separator = regexp.MustCompile(`(?m)^---\n`)

func main() {
	var asked struct {
		Chart, Release string
		Values         table
	}
	must(json.NewDecoder(os.Stdin).Decode(&asked))
	chart := table{}
	for key, value := range readYaml(filepath.Join(asked.Chart, "Chart.yaml")) {
		chart[strings.ToUpper(key[:1])+key[1:]] = value
	}
	values := merge(readYaml(filepath.Join(asked.Chart, "values.yaml")), asked.Values)
	release := table{"Name": asked.Release, "Namespace": "default", "Service": "Helm", "IsInstall": true, "IsUpgrade": false, "Revision": 1}
	all, names := parse(asked.Chart)
	texts, objects := map[string]string{}, map[string][]table{}
	for _, name := range names {
		path := table{"Name": "switchboard/templates/" + name, "BasePath": "switchboard/templates"}
		data := table{"Chart": chart, "Release": release, "Values": values, "Files": files(asked.Chart), "Template": path}
		var text bytes.Buffer
		must(all.ExecuteTemplate(&text, "switchboard/templates/"+name, data))
		texts[name] = clean(text.String())
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		for _, document := range separator.Split(texts[name], -1) {
			object := table{}
			must(yaml.UnmarshalStrict([]byte(document), &object))
			if len(object) > 0 {
				objects[name] = append(objects[name], object)
			}
		}
	}
	must(json.NewEncoder(os.Stdout).Encode(table{"values": values, "files": texts, "objects": objects}))
}
