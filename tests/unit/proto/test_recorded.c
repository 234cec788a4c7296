// SPDX-License-Identifier: Apache-2.0
/*
 * Requests that a Go liaison was asked, what it sent to its nodes and what it answered by itself,
 * replayed, where there are any (tests/support/shared.h). Where a difference is meant, the table
 * below says why.
 */
#include "proto/measure.pb-c.h"
#include "proto/request.h"
#include "proto/schema.pb-c.h"
#include "tests/support/shared.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/proto/sample.h"

#include <jansson.h>

#include <dirent.h>
#include <stdio.h>

typedef Banyandb__Measure__V1__QueryRequest query_request;
typedef Banyandb__Measure__V1__InternalQueryRequest internal_request;

/* What is different on purpose. */
enum difference {
    SAME,
    ASKED_ONCE,    /* a group named twice is one group */
    SATURATED,     /* limit + offset stops at 2^32-1 instead of wrapping to 0 */
    TOP_IGNORED,   /* a top of 0 rows: nodes are not asked for all rows to rank none */
    REFUSED_EARLY, /* the same refusal, before nodes are asked */
    KEY_ASKED,     /* the group's tag is asked for here; where nodes group they add it themselves */
};

static const struct {
    const char *name;
    enum difference difference;
} differences[] = {
    {"extra/errors/same-group-twice", ASKED_ONCE},
    {"extra/errors/limit-max-offset-1", SATURATED},
    {"extra/errors/top-number-0", TOP_IGNORED},
    {"extra/large-and-multi-group/multi-unknown-tag", REFUSED_EARLY},
    {"extra/types/group-by-unprojected-tag-no-agg", KEY_ASKED},
};

static const char *const folders[] = {
    "cases",
    "extra/errors",
    "extra/types",
    "extra/large-and-multi-group",
    "extra/trace",
    "extra/replicas-1-on-3-nodes",
    "extra/replicated-3-nodes",
};

struct replay {
    const char *root;
    struct catalog *catalog;
    struct arena arena;
    const char *name; /* of the case */
    unsigned asked;   /* cases in which nodes were asked */
    unsigned refused; /* refusals of the liaison's own */
    unsigned spared;  /* what nodes were asked to refuse, refused here */
};

static enum difference difference_of(const char *name)
{
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        if (strcmp(differences[i].name, name) == 0) {
            return differences[i].difference;
        }
    }
    return SAME;
}

/* ---------------------------------------------------------------- the catalog */

static void put(struct catalog_store *store, const Banyandb__Property__V1__Property *property,
                int64_t delete_time)
{
    struct error err = {0};
    enum catalog_change change = delete_time > 0
                                     ? catalog_store_delete(store, property, delete_time)
                                     : catalog_store_put(store, property, &err);
    ck_assert_msg(change != CATALOG_BAD, "%s", err.text);
}

static void take_list(struct catalog_store *store, struct slice bytes)
{
    Banyandb__Schema__V1__ListSchemasResponse *list =
        banyandb__schema__v1__list_schemas_response__unpack(NULL, bytes.len, bytes.ptr);
    ck_assert_ptr_nonnull(list);
    for (size_t i = 0; i < list->n_properties; i++) {
        put(store, list->properties[i], i < list->n_delete_times ? list->delete_times[i] : 0);
    }
    banyandb__schema__v1__list_schemas_response__free_unpacked(list, NULL);
}

static void take_event(struct catalog_store *store, struct slice bytes)
{
    Banyandb__Schema__V1__WatchSchemasResponse *event =
        banyandb__schema__v1__watch_schemas_response__unpack(NULL, bytes.len, bytes.ptr);
    ck_assert_ptr_nonnull(event);
    if (event->property != NULL && !event->metadata_only) {
        put(store, event->property, event->delete_time);
    }
    banyandb__schema__v1__watch_schemas_response__free_unpacked(event, NULL);
}

static void take_line(struct catalog_store *store, const json_t *line, const uint8_t *messages)
{
    const char *method = json_string_value(json_object_get(line, "method"));
    const char *from = json_string_value(json_object_get(line, "from"));
    struct slice bytes = slice_of(messages + json_integer_value(json_object_get(line, "at")),
                                  (size_t)json_integer_value(json_object_get(line, "len")));
    if (strcmp(from, "server") != 0) {
        return;
    }
    if (strcmp(method, "ListSchemas") == 0) {
        take_list(store, bytes);
    } else if (strcmp(method, "WatchSchemas") == 0) {
        take_event(store, bytes);
    }
}

static void take_messages(struct catalog_store *store, const char *root)
{
    char path[512];
    size_t len;
    snprintf(path, sizeof path, "%s/schema/s1/messages.bin", root);
    uint8_t *messages = sample_file(path, &len);
    snprintf(path, sizeof path, "%s/schema/s1/messages.jsonl", root);
    char *lines = (char *)sample_file(path, &len);
    ck_assert_ptr_nonnull(messages);
    ck_assert_ptr_nonnull(lines);
    char *rest = lines;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';) {
        json_t *tree = json_loads(line, 0, NULL);
        ck_assert_ptr_nonnull(tree);
        take_line(store, tree, messages);
        json_decref(tree);
    }
    free(lines);
    free(messages);
}

/* One object of a schema file, with the revision and time that the other files tell of it. */
static void put_json(struct catalog_store *store, const char *kind, json_t *object,
                     const char *revision, const char *created)
{
    json_t *metadata = json_object_get(object, "metadata");
    json_object_set_new(metadata, "modRevision", json_string(revision));
    if (created != NULL) {
        json_object_set_new(object, "createdAt", json_string(created));
    }
    char *source = json_dumps(object, 0);
    sample_put(store, &(struct sample_object){.kind = kind, .source = source}, 1);
    free(source);
}

static void put_rule(struct catalog_store *store, const char *group, const char *measure,
                     const char *tag)
{
    char rule[512];
    char binding[512];
    snprintf(rule, sizeof rule,
             "{\"metadata\":{\"group\":\"%s\",\"name\":\"%s\",\"id\":1},\"tags\":[\"%s\"],"
             "\"type\":\"TYPE_INVERTED\"}",
             group, tag, tag);
    snprintf(binding, sizeof binding,
             "{\"metadata\":{\"group\":\"%s\",\"name\":\"%s\"},\"rules\":[\"%s\"],"
             "\"subject\":{\"catalog\":\"CATALOG_MEASURE\",\"name\":\"%s\"}}",
             group, tag, tag, measure);
    const struct sample_object objects[] = {{"indexRule", rule, 0},
                                            {"indexRuleBinding", binding, 0}};
    sample_put(store, objects, 2);
}

/* The folders that describe rules in words. */
static void take_types(struct catalog_store *store, const char *root)
{
    char path[512];
    snprintf(path, sizeof path, "%s/extra/types/schema-and-writes.json", root);
    json_t *schema = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(schema);
    put_json(store, "group", json_object_get(schema, "group"), "1", NULL);
    put_json(store, "measure", json_object_get(schema, "measure"), "1796037314453026680",
             "2026-11-30T11:15:14.453026930Z");
    put_rule(store, "types", "mixed", "rank");
    put_rule(store, "types", "mixed", "label");
    json_decref(schema);
}

static void take_large(struct catalog_store *store, const char *root)
{
    char path[512];
    snprintf(path, sizeof path, "%s/extra/large-and-multi-group/schema.json", root);
    json_t *schema = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(schema);
    const char *group;
    json_t *measure;
    json_object_foreach(json_object_get(schema, "measures"), group, measure)
    {
        json_t *object = json_pack("{s:{s:s},s:s,s:{s:i,s:{s:s,s:i},s:{s:s,s:i}}}", "metadata",
                                   "name", group, "catalog", "CATALOG_MEASURE", "resourceOpts",
                                   "shardNum", 2, "segmentInterval", "unit", "UNIT_DAY", "num", 1,
                                   "ttl", "unit", "UNIT_DAY", "num", 7);
        put_json(store, "group", object, "1", NULL);
        put_json(store, "measure", measure, "1", NULL);
        put_rule(store, group, "m", "rank");
        json_decref(object);
    }
    json_decref(schema);
}

/* The folder `errors` is of another run than the messages; its gated cases tell what differs. */
static void take_errors(struct catalog_store *store)
{
    static const char field[] = "\"fieldType\":\"FIELD_TYPE_INT\","
                                "\"compressionMethod\":\"COMPRESSION_METHOD_ZSTD\"";
    char source[1024];
    snprintf(source, sizeof source,
             "{\"metadata\":{\"group\":\"sw_metric\",\"name\":\"service_cpm_minute\","
             "\"modRevision\":\"1796037035800643261\"},\"tagFamilies\":[{\"name\":\"default\","
             "\"tags\":[{\"name\":\"id\",\"type\":\"TAG_TYPE_STRING\"},"
             "{\"name\":\"entity_id\",\"type\":\"TAG_TYPE_STRING\"}]}],"
             "\"fields\":[{\"name\":\"total\",%s},{\"name\":\"value\",%s}],"
             "\"entity\":{\"tagNames\":[\"entity_id\"]},"
             "\"createdAt\":\"2026-11-30T11:10:35.800643662Z\"}",
             field, field);
    const struct sample_object measure = {"measure", source, 1796037035800643662};
    sample_put(store, &measure, 1);
}

static struct catalog *recorded_catalog(const char *root)
{
    struct catalog_store *store = catalog_store_new();
    take_messages(store, root);
    take_errors(store);
    take_types(store, root);
    take_large(store, root);
    struct catalog *catalog = catalog_snapshot(store);
    catalog_store_free(&store);
    return catalog;
}

/* ------------------------------------------------------------------ one case */

static struct slice read_file(struct replay *replay, const char *file)
{
    char path[768];
    snprintf(path, sizeof path, "%s/%s/%s", replay->root, replay->name, file);
    size_t len = 0;
    uint8_t *bytes = sample_file(path, &len);
    struct slice kept = slice_of(NULL, 0);
    if (bytes != NULL) {
        kept = slice_of(arena_zalloc(&replay->arena, len + 16, 1), len);
        memcpy((uint8_t *)(uintptr_t)kept.ptr, bytes, len);
    }
    free(bytes);
    return kept;
}

/* Whoever aggregates sends partials. */
static query_request *unpack_push(struct slice bytes)
{
    internal_request *request =
        banyandb__measure__v1__internal_query_request__unpack(NULL, bytes.len, bytes.ptr);
    ck_assert_ptr_nonnull(request);
    query_request *inner = request->request;
    ck_assert(request->agg_return_partial == (inner->agg != NULL));
    request->request = NULL;
    banyandb__measure__v1__internal_query_request__free_unpacked(request, NULL);
    return inner;
}

static void assert_same(const struct replay *replay, const query_request *a, const query_request *b)
{
    size_t len = banyandb__measure__v1__query_request__get_packed_size(a);
    ck_assert_msg(len == banyandb__measure__v1__query_request__get_packed_size(b), "%s: sizes",
                  replay->name);
    uint8_t *bytes = calloc(2, len + 1);
    banyandb__measure__v1__query_request__pack(a, bytes);
    banyandb__measure__v1__query_request__pack(b, bytes + len);
    ck_assert_msg(memcmp(bytes, bytes + len, len) == 0, "%s: bytes", replay->name);
    free(bytes);
}

/* Rows without a value come first here: a node, which has them last, is asked for this many. */
static bool asks_for_nulls(const struct request *request, const query_request *recorded)
{
    return request->plan.order == PLAN_BY_TAG && !request->plan.descending &&
           recorded->limit < 10000;
}

/* Changes what the Go liaison sent into what is sent here. */
static void expect_difference(const struct request *request, size_t group, query_request *recorded)
{
    if (request->groups[group].measure->index_mode || recorded->agg != NULL) {
        recorded->limit = UINT32_MAX; /* nodes cut before they sort, or before all are added up */
    } else if (recorded->group_by != NULL) {
        recorded->limit = UINT32_MAX; /* grouped and ranked here */
        protobuf_c_message_free_unpacked((ProtobufCMessage *)recorded->group_by, NULL);
        protobuf_c_message_free_unpacked((ProtobufCMessage *)recorded->top, NULL);
        recorded->group_by = NULL;
        recorded->top = NULL;
    } else if (asks_for_nulls(request, recorded)) {
        recorded->limit = 10000;
    }
}

static void expect_key(query_request *ours, query_request *recorded)
{
    const Banyandb__Model__V1__TagProjection *tags = ours->tag_projection;
    ck_assert_uint_eq(tags->n_tag_families, recorded->tag_projection->n_tag_families + 1);
    ck_assert_str_eq(tags->tag_families[tags->n_tag_families - 1]->tags[0], "rank");
    banyandb__model__v1__tag_projection__free_unpacked(ours->tag_projection, NULL);
    banyandb__model__v1__tag_projection__free_unpacked(recorded->tag_projection, NULL);
    ours->tag_projection = NULL;
    recorded->tag_projection = NULL;
}

static void compare_push(struct replay *replay, const struct request *request, size_t group)
{
    char file[64] = "internal-d1.pb";
    if (group > 0) {
        snprintf(file, sizeof file, "internal-d1.%zu.pb", group + 1);
    }
    struct slice sent = read_file(replay, file);
    ck_assert_msg(sent.ptr != NULL, "%s: no %s", replay->name, file);
    query_request *recorded = unpack_push(sent);
    query_request *ours = unpack_push(request_push(request, group, &replay->arena));
    expect_difference(request, group, recorded);
    switch (difference_of(replay->name)) {
    case SATURATED:
        ck_assert_uint_eq(ours->limit, UINT32_MAX);
        recorded->limit = UINT32_MAX;
        break;
    case TOP_IGNORED:
        recorded->limit = 100;
        break;
    case KEY_ASKED:
        expect_key(ours, recorded);
        break;
    case SAME:
    case ASKED_ONCE:
    case REFUSED_EARLY:
        break;
    }
    assert_same(replay, ours, recorded);
    banyandb__measure__v1__query_request__free_unpacked(ours, NULL);
    banyandb__measure__v1__query_request__free_unpacked(recorded, NULL);
}

/* What the first node that refused said, or NULL. */
static const char *node_error(const json_t *index)
{
    const json_t *nodes = json_object_get(index, "nodes");
    const char *said = NULL;
    for (size_t i = 0; i < json_array_size(nodes) && said == NULL; i++) {
        said = json_string_value(json_object_get(json_array_get(nodes, i), "error"));
    }
    return said;
}

/* Groups and aggregates are checked here, with the words of a node. */
static void compare_node_error(struct replay *replay, const json_t *index, const struct error *err)
{
    const char *said = node_error(index);
    ck_assert_msg(said != NULL, "%s: refused with %s", replay->name, err->text);
    ck_assert_int_eq(err->code, ERROR_UNKNOWN);
    ck_assert_msg(strstr(err->text, said) != NULL, "%s: %s", replay->name, err->text);
    ck_assert(strstr(err->text, "fail to execute the query plan for measure ") != NULL);
    replay->spared++;
}

static void compare_error(struct replay *replay, const json_t *index, const struct error *err)
{
    const json_t *error = json_object_get(index, "error");
    ck_assert_msg(error != NULL, "%s: refused with %s", replay->name, err->text);
    ck_assert_str_eq(json_string_value(json_object_get(error, "message")), err->text);
    ck_assert_str_eq(json_string_value(json_object_get(error, "code")), error_code_name(err->code));
    replay->refused++;
}

/* An answer that needs no node: group_statuses and nothing else. */
static void compare_answer(struct replay *replay, const struct request *request)
{
    struct slice bytes = read_file(replay, "response.pb");
    Banyandb__Measure__V1__QueryResponse *response =
        banyandb__measure__v1__query_response__unpack(NULL, bytes.len, bytes.ptr);
    ck_assert_ptr_nonnull(response);
    ck_assert_uint_eq(response->n_data_points, 0);
    size_t gated = 0;
    for (size_t i = 0; i < request->group_count; i++) {
        gated += request->groups[i].gated;
    }
    ck_assert_uint_eq(response->n_group_statuses, gated);
    for (size_t i = 0; i < response->n_group_statuses; i++) {
        ck_assert_int_eq(response->group_statuses[i]->value, request->groups[i].status);
    }
    banyandb__measure__v1__query_response__free_unpacked(response, NULL);
    replay->refused++;
}

static void replay_query(struct replay *replay, const json_t *index)
{
    struct request request;
    struct error err = {0};
    struct slice bytes = read_file(replay, "request.pb");
    bool asked = json_array_size(json_object_get(index, "nodes")) > 0;
    enum difference difference = difference_of(replay->name);
    if (!request_parse(bytes, &replay->arena, &request, &err)) {
        ck_assert_msg(!asked, "%s: %s", replay->name, err.text);
        compare_error(replay, index, &err);
        return;
    }
    if (request_gate(&request, replay->catalog, false) == REQUEST_ANSWERED) {
        ck_assert_msg(!asked, "%s: answered without nodes", replay->name);
        compare_answer(replay, &request);
        return;
    }
    if (!request_plan(&request, replay->catalog, "", &replay->arena, &err)) {
        if (asked && (request.message->agg != NULL || request.message->group_by != NULL)) {
            compare_node_error(replay, index, &err);
            return;
        }
        ck_assert_msg(!asked || difference == REFUSED_EARLY, "%s: %s", replay->name, err.text);
        compare_error(replay, index, &err);
        return;
    }
    ck_assert_msg(asked, "%s: nothing was refused", replay->name);
    if (request_aggregates(&request)) {
        request_aggregate_by(&request, PLAN_PARTIALS, true);
    }
    for (size_t i = 0; i < request.group_count; i++) {
        compare_push(replay, &request, i);
    }
    replay->asked++;
}

static void replay_case(struct replay *replay, const char *name)
{
    char path[768];
    snprintf(path, sizeof path, "%s/%s/index.json", replay->root, name);
    json_t *index = json_load_file(path, 0, NULL);
    const char *kind = json_string_value(json_object_get(index, "kind"));
    if (kind != NULL && strcmp(kind, "measure") == 0) {
        replay->name = name;
        arena_init(&replay->arena, SIZE_MAX, NULL, NULL);
        replay_query(replay, index);
        arena_fini(&replay->arena);
    }
    json_decref(index);
}

static void replay_folder(struct replay *replay, const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", replay->root, folder);
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    ck_assert_int_gt(count, 0);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            char name[512];
            snprintf(name, sizeof name, "%s/%s", folder, entries[i]->d_name);
            replay_case(replay, name);
        }
        free(entries[i]);
    }
    free(entries);
}

START_TEST(recorded_requests)
{
    const char *shared = shared_folder("recorded");
    if (shared == NULL) {
        return;
    }
    char root[256];
    snprintf(root, sizeof root, "%s/recorded", shared);
    struct replay replay = {.root = root, .catalog = recorded_catalog(root)};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        replay_folder(&replay, folders[i]);
    }
    printf("recorded: %u requests pushed alike, %u answered alike without nodes, %u refused before "
           "nodes were asked\n",
           replay.asked, replay.refused, replay.spared);
    ck_assert_uint_gt(replay.asked, 160);
    ck_assert_uint_gt(replay.refused, 12);
    ck_assert_uint_gt(replay.spared, 7);
    catalog_release(&replay.catalog);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recorded");
    TCase *tcase = tcase_create("requests");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, recorded_requests);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
