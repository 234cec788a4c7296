// SPDX-License-Identifier: Apache-2.0
/* protobuf-c's structs have no const, but packing only reads: hence the casts. */
#include "liaison/cluster/schema_request.h"

#include "liaison/own.h"

#include <stdlib.h>

static char *borrowed(const char *text)
{
    return (char *)(uintptr_t)text;
}

static struct slice pack(const ProtobufCMessage *message)
{
    const size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = own_array(1, size + 1);
    protobuf_c_message_pack(message, bytes);
    return slice_of(bytes, size);
}

const char *schema_request_kind(enum schema_kind kind)
{
    static const char *const names[SCHEMA_KINDS] = {
        [SCHEMA_GROUP] = "group",          [SCHEMA_MEASURE] = "measure",
        [SCHEMA_INDEX_RULE] = "indexRule", [SCHEMA_INDEX_RULE_BINDING] = "indexRuleBinding",
        [SCHEMA_TOPN] = "topNAggregation",
    };
    return names[kind];
}

struct slice schema_request_list(enum schema_kind kind, const char *id)
{
    Banyandb__Property__V1__QueryRequest query;
    Banyandb__Schema__V1__ListSchemasRequest request;
    char *groups[] = {borrowed("_schema")};
    char *ids[] = {borrowed(id)};
    banyandb__property__v1__query_request__init(&query);
    banyandb__schema__v1__list_schemas_request__init(&request);
    query.n_groups = 1;
    query.groups = groups;
    query.name = borrowed(schema_request_kind(kind));
    query.n_ids = id == NULL ? 0 : 1;
    query.ids = ids;
    request.query = &query;
    return pack(&request.base);
}

struct slice schema_request_news(int64_t revision)
{
    Banyandb__Schema__V1__WatchSchemasRequest request;
    Banyandb__Model__V1__Criteria criteria;
    Banyandb__Model__V1__Condition condition;
    Banyandb__Model__V1__TagValue value;
    Banyandb__Model__V1__Int number;
    banyandb__schema__v1__watch_schemas_request__init(&request);
    banyandb__model__v1__criteria__init(&criteria);
    banyandb__model__v1__condition__init(&condition);
    banyandb__model__v1__tag_value__init(&value);
    banyandb__model__v1__int__init(&number);
    number.value = revision;
    value.value_case = BANYANDB__MODEL__V1__TAG_VALUE__VALUE_INT;
    value.int_ = &number;
    condition.name = borrowed("updated_at");
    condition.op = BANYANDB__MODEL__V1__CONDITION__BINARY_OP__BINARY_OP_GT;
    condition.value = &value;
    criteria.exp_case = BANYANDB__MODEL__V1__CRITERIA__EXP_CONDITION;
    criteria.condition = &condition;
    request.criteria = revision == 0 ? NULL : &criteria;
    return pack(&request.base);
}

struct slice schema_request_digests(void)
{
    Banyandb__Schema__V1__WatchSchemasRequest request;
    char *tags[] = {borrowed("kind"), borrowed("group"), borrowed("name"), borrowed("updated_at")};
    banyandb__schema__v1__watch_schemas_request__init(&request);
    request.n_tag_projection = sizeof tags / sizeof tags[0];
    request.tag_projection = tags;
    return pack(&request.base);
}
