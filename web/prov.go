package web

import (
	"strconv"

	"cairn/node/api"
)

// provEnds are the names of the two ends of each relation in PROV-JSON (W3C member submission 2013, section 3): the first
// is where the arrow starts.
var provEnds = map[string][2]string{
	"wasDerivedFrom":    {"prov:generatedEntity", "prov:usedEntity"},
	"wasRevisionOf":     {"prov:generatedEntity", "prov:usedEntity"},
	"wasQuotedFrom":     {"prov:generatedEntity", "prov:usedEntity"},
	"hadPrimarySource":  {"prov:generatedEntity", "prov:usedEntity"},
	"wasGeneratedBy":    {"prov:entity", "prov:activity"},
	"wasInvalidatedBy":  {"prov:entity", "prov:activity"},
	"used":              {"prov:activity", "prov:entity"},
	"wasInformedBy":     {"prov:informed", "prov:informant"},
	"wasAttributedTo":   {"prov:entity", "prov:agent"},
	"wasAssociatedWith": {"prov:activity", "prov:agent"},
	"actedOnBehalfOf":   {"prov:delegate", "prov:responsible"},
	"alternateOf":       {"prov:alternate1", "prov:alternate2"},
	"specializationOf":  {"prov:specificEntity", "prov:generalEntity"},
	"hadMember":         {"prov:collection", "prov:entity"},
	"wasInfluencedBy":   {"prov:influencee", "prov:influencer"},
}

// derivations are kinds of wasDerivedFrom that PROV-JSON writes as its type.
var derivations = map[string]string{
	"wasRevisionOf": "prov:Revision", "wasQuotedFrom": "prov:Quotation", "hadPrimarySource": "prov:PrimarySource",
}

type provRecord = map[string]any

// provDocument writes a graph as PROV-JSON. A relation that PROV does not know becomes wasInfluencedBy, its general form,
// with the name as prov:type.
func provDocument(g api.Graph) map[string]any {
	doc := map[string]any{"prefix": map[string]string{"cairn": "urn:cairn:", "prov": "http://www.w3.org/ns/prov#"}}
	section := func(name string) provRecord {
		if doc[name] == nil {
			doc[name] = provRecord{}
		}
		return doc[name].(provRecord)
	}
	for _, n := range g.Nodes {
		record := provRecord{"prov:label": n.Label}
		for k, v := range n.Attrs {
			record["cairn:"+k] = v
		}
		section(n.Type)["cairn:"+n.ID] = record
	}
	for i, e := range g.Edges {
		name, kind := e.Relation, ""
		if d, ok := derivations[name]; ok {
			name, kind = "wasDerivedFrom", d
		}
		ends, ok := provEnds[name]
		if !ok {
			name, kind, ends = "wasInfluencedBy", "cairn:"+e.Relation, provEnds["wasInfluencedBy"]
		}
		record := provRecord{ends[0]: "cairn:" + e.From, ends[1]: "cairn:" + e.To}
		if kind != "" {
			record["prov:type"] = provRecord{"$": kind, "type": "prov:QUALIFIED_NAME"}
		}
		section(name)["_:r"+strconv.Itoa(i+1)] = record
	}
	return doc
}
