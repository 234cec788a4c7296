# SPDX-License-Identifier: Apache-2.0
"""Schema objects as the tests' own evaluators need them: measures, their tags, and bound rules."""
import json
import pathlib

from google.protobuf import json_format

from proto import message

KINDS = {"group": "common.v1.Group", "measure": "database.v1.Measure",
         "indexRule": "database.v1.IndexRule", "indexRuleBinding": "database.v1.IndexRuleBinding",
         "topNAggregation": "database.v1.TopNAggregation"}
SUITE_FOLDERS = {"groups": "group", "measures": "measure", "index_rules": "indexRule",
                 "index_rule_bindings": "indexRuleBinding", "topn_aggregations": "topNAggregation"}
CATALOG_MEASURE = 2


class Catalog:
    def __init__(self):
        self.objects = {kind: {} for kind in KINDS}

    def add(self, kind, document):
        """Takes proto JSON: a text, or what json.loads makes of it."""
        text = document if isinstance(document, str) else json.dumps(document)
        made = json_format.Parse(text, message(KINDS[kind]), ignore_unknown_fields=True)
        self.objects[kind][made.metadata.group, made.metadata.name] = made
        return made

    def group(self, name):
        return self.objects["group"].get(("", name))

    def measure(self, group, name):
        return self.objects["measure"].get((group, name)) if self.group(group) else None

    def tag_types(self, group, name):
        """{(family, tag): type} in the order of the schema."""
        measure = self.measure(group, name)
        return {(family.name, tag.name): tag.type for family in measure.tag_families for tag in family.tags}

    def field_types(self, group, name):
        return {field.name: field.field_type for field in self.measure(group, name).fields}

    def bound_rule(self, group, name, rule_name):
        """The index rule of this name that a binding ties to the measure, or None."""
        for (owner, _), binding in sorted(self.objects["indexRuleBinding"].items()):
            if (owner, binding.subject.name, binding.subject.catalog) == (group, name, CATALOG_MEASURE):
                if rule_name in binding.rules:
                    return self.objects["indexRule"].get((group, rule_name))
        return None

    def order_tag(self, groups, name, rule_name):
        """(family, tag) that an order by this rule means: the first group that has it decides."""
        for group in groups:
            rule = self.bound_rule(group, name, rule_name)
            if rule and not rule.no_sort and len(rule.tags) == 1:
                for family, tag in self.tag_types(group, name):
                    if tag == rule.tags[0]:
                        return family, tag
        return None


def of_suite(suite, groups="groups"):
    """The catalog of the acceptance suite."""
    catalog = Catalog()
    for folder, kind in SUITE_FOLDERS.items():
        where = pathlib.Path(suite) / "schemas" / (groups if folder == "groups" else folder)
        for path in sorted(where.rglob("*.json")):
            documents = json.loads(path.read_text())
            for document in documents if isinstance(documents, list) else [documents]:
                catalog.add(kind, document)
    return catalog
