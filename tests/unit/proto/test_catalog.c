// SPDX-License-Identifier: Apache-2.0
/* The newest state wins in whatever order it is told; snapshots stay as they were. */
#include "proto/catalog.h"
#include "tests/support/frame_random.h"
#include "tests/unit/frame/unit.h"
#include "tests/unit/proto/sample.h"

#include <stdio.h>
#include <time.h>

#define OPTS                                                                                       \
    "\"resourceOpts\":{\"shardNum\":1,\"segmentInterval\":{\"unit\":\"UNIT_DAY\",\"num\":1},"      \
    "\"ttl\":{\"unit\":\"UNIT_DAY\",\"num\":7}}"
#define GROUP(name)                                                                                \
    "{\"metadata\":{\"name\":\"" name                                                              \
    "\",\"modRevision\":\"3\"},\"catalog\":\"CATALOG_MEASURE\"," OPTS "}"
#define MEASURE(group, name, tag)                                                                  \
    "{\"metadata\":{\"group\":\"" group "\",\"name\":\"" name "\",\"modRevision\":\"7\"},"         \
    "\"tagFamilies\":[{\"name\":\"f\",\"tags\":[{\"name\":\"" tag                                  \
    "\",\"type\":\"TAG_TYPE_STRING\"}]}],\"entity\":{\"tagNames\":[\"" tag "\"]}}"

static struct slice s(const char *text)
{
    return slice_str(text);
}

static enum catalog_change put(struct catalog_store *store, const char *kind, const char *source,
                               int64_t updated_at)
{
    struct error err = {0};
    struct sample_object object = {kind, source, updated_at};
    Banyandb__Property__V1__Property *property = sample_property(&object);
    enum catalog_change change = catalog_store_put(store, property, &err);
    sample_property_free(&property);
    return change;
}

static enum catalog_change drop(struct catalog_store *store, const char *kind, const char *source,
                                int64_t updated_at, int64_t delete_time)
{
    struct sample_object object = {kind, source, updated_at};
    Banyandb__Property__V1__Property *property = sample_property(&object);
    enum catalog_change change = catalog_store_delete(store, property, delete_time);
    sample_property_free(&property);
    return change;
}

/* The tag of measure g/m in a snapshot made now; "" = no such measure. */
static char *tag_now(const struct catalog_store *store)
{
    static char tag[16];
    struct catalog *catalog = catalog_snapshot(store);
    const Banyandb__Database__V1__Measure *measure = catalog_measure(catalog, s("g"), s("m"));
    snprintf(tag, sizeof tag, "%s", measure == NULL ? "" : measure->tag_families[0]->tags[0]->name);
    catalog_release(&catalog);
    return tag;
}

START_TEST(newest_wins)
{
    struct catalog_store *store = catalog_store_new();
    ck_assert_int_eq(put(store, "group", GROUP("g"), 5), CATALOG_CHANGED);
    ck_assert_int_eq(put(store, "measure", MEASURE("g", "m", "b"), 20), CATALOG_CHANGED);
    ck_assert_int_eq(put(store, "measure", MEASURE("g", "m", "a"), 10), CATALOG_UNCHANGED);
    ck_assert_int_eq(put(store, "measure", MEASURE("g", "m", "x"), 20), CATALOG_UNCHANGED);
    ck_assert_str_eq(tag_now(store), "b");
    ck_assert_int_eq(put(store, "measure", MEASURE("g", "m", "c"), 21), CATALOG_CHANGED);
    ck_assert_str_eq(tag_now(store), "c");
    ck_assert_int_eq(catalog_store_revision(store), 21);
    catalog_store_free(&store);
}
END_TEST

START_TEST(deletions)
{
    struct catalog_store *store = catalog_store_new();
    put(store, "group", GROUP("g"), 5);
    put(store, "measure", MEASURE("g", "m", "b"), 20);
    /* Of an older revision, dated later: a repair's tombstone. */
    ck_assert_int_eq(drop(store, "measure", MEASURE("g", "m", "a"), 10, 30), CATALOG_UNCHANGED);
    ck_assert_str_eq(tag_now(store), "b");
    /* Before the object was last written. */
    ck_assert_int_eq(drop(store, "measure", MEASURE("g", "m", "b"), 20, 19), CATALOG_UNCHANGED);
    ck_assert_int_eq(drop(store, "measure", MEASURE("g", "m", "b"), 20, 40), CATALOG_CHANGED);
    ck_assert_str_eq(tag_now(store), "");
    ck_assert_int_eq(drop(store, "measure", MEASURE("g", "m", "b"), 20, 40), CATALOG_UNCHANGED);
    ck_assert_int_eq(catalog_store_revision(store), 40);
    /* A server that missed the deletion does not bring it back. */
    ck_assert_int_eq(put(store, "measure", MEASURE("g", "m", "b"), 20), CATALOG_UNCHANGED);
    ck_assert_str_eq(tag_now(store), "");
    /* Made anew. */
    ck_assert_int_eq(put(store, "measure", MEASURE("g", "m", "d"), 50), CATALOG_CHANGED);
    ck_assert_str_eq(tag_now(store), "d");
    /* A deletion that does not tell of which revision. */
    Banyandb__Property__V1__Property *property =
        sample_property(&(struct sample_object){"measure", MEASURE("g", "m", "d"), 50});
    property->tags[4]->key[0] = 'U';
    ck_assert_int_eq(catalog_store_delete(store, property, 49), CATALOG_UNCHANGED);
    ck_assert_int_eq(catalog_store_delete(store, property, 60), CATALOG_CHANGED);
    ck_assert_str_eq(tag_now(store), "");
    sample_property_free(&property);
    catalog_store_free(&store);
}
END_TEST

/* The events of a life in any order give the same end. */
START_TEST(any_order)
{
    uint64_t seed = 5;
    for (size_t round = 0; round < 200; round++) {
        struct catalog_store *store = catalog_store_new();
        put(store, "group", GROUP("g"), 1);
        unsigned left = 0x1f;
        while (left != 0) {
            size_t event = random_below(&seed, 5);
            if ((left >> event & 1) == 0) {
                continue;
            }
            left &= ~(1u << event);
            switch (event) {
            case 0:
                put(store, "measure", MEASURE("g", "m", "a"), 10);
                break;
            case 1:
                put(store, "measure", MEASURE("g", "m", "b"), 20);
                break;
            case 2:
                drop(store, "measure", MEASURE("g", "m", "a"), 10, 25);
                break;
            case 3:
                drop(store, "measure", MEASURE("g", "m", "b"), 20, 25);
                break;
            default:
                put(store, "measure", MEASURE("g", "m", "c"), 30);
                break;
            }
        }
        ck_assert_str_eq(tag_now(store), "c");
        catalog_store_free(&store);
    }
}
END_TEST

START_TEST(snapshots)
{
    struct catalog_store *store = catalog_store_new();
    put(store, "group", GROUP("g"), 1);
    put(store, "measure", MEASURE("g", "m", "a"), 1);
    struct catalog *before = catalog_snapshot(store);
    put(store, "measure", MEASURE("g", "m", "b"), 2);
    drop(store, "group", GROUP("g"), 1, 3);
    struct catalog *after = catalog_snapshot(store);
    catalog_store_free(&store);
    struct catalog *again = catalog_retain(before);
    catalog_release(&before);
    ck_assert_ptr_null(before);
    const Banyandb__Database__V1__Measure *measure = catalog_measure(again, s("g"), s("m"));
    ck_assert_str_eq(measure->tag_families[0]->tags[0]->name, "a");
    ck_assert_int_eq(measure->metadata->mod_revision, 7);
    /* The group is gone, so what is below it is not found. */
    ck_assert_ptr_null(catalog_group(after, s("g")));
    ck_assert_ptr_null(catalog_measure(after, s("g"), s("m")));
    ck_assert_uint_eq(catalog_count(after, SCHEMA_GROUP), 0);
    ck_assert_uint_eq(catalog_count(after, SCHEMA_MEASURE), 1);
    catalog_release(&again);
    catalog_release(&after);
}
END_TEST

START_TEST(lookups)
{
    struct catalog *world = sample_world();
    ck_assert_str_eq(catalog_group(world, s("g2"))->metadata->name, "g2");
    ck_assert_ptr_null(catalog_group(world, s("g")));
    ck_assert_ptr_null(catalog_group(world, s("")));
    ck_assert_ptr_nonnull(catalog_measure(world, s("g1"), s("m")));
    ck_assert_ptr_null(catalog_measure(world, s("g1"), s("n")));
    ck_assert_ptr_null(catalog_measure(world, s("nope"), s("m")));
    ck_assert_ptr_nonnull(catalog_bound_rule(world, s("g1"), s("m"), s("by-rank")));
    ck_assert_ptr_nonnull(catalog_bound_rule(world, s("g1"), s("m"), s("two-tags")));
    /* bound but not there; there but not bound; of another measure; of another group */
    ck_assert_ptr_null(catalog_bound_rule(world, s("g1"), s("m"), s("missing")));
    ck_assert_ptr_null(catalog_bound_rule(world, s("g1"), s("m"), s("unbound")));
    ck_assert_ptr_null(catalog_bound_rule(world, s("g1"), s("n"), s("by-rank")));
    ck_assert_ptr_null(catalog_bound_rule(world, s("g2"), s("m"), s("by-rank")));
    for (size_t i = 0; i + 1 < catalog_count(world, SCHEMA_GROUP); i++) {
        const Banyandb__Common__V1__Group *a =
            (const Banyandb__Common__V1__Group *)catalog_at(world, SCHEMA_GROUP, i);
        const Banyandb__Common__V1__Group *b =
            (const Banyandb__Common__V1__Group *)catalog_at(world, SCHEMA_GROUP, i + 1);
        ck_assert_int_lt(strcmp(a->metadata->name, b->metadata->name), 0);
    }
    catalog_release(&world);
}
END_TEST

START_TEST(topn)
{
    static const struct sample_object objects[] = {
        {"group", GROUP("g"), 0},
        {"topNAggregation",
         "{\"metadata\":{\"group\":\"g\",\"name\":\"t\"},\"sourceMeasure\":{\"group\":\"g\","
         "\"name\":\"m\"},\"fieldName\":\"v\",\"countersNumber\":1000,\"criteria\":{\"condition\":"
         "{\"name\":\"a\",\"op\":\"BINARY_OP_EQ\",\"value\":{\"str\":{\"value\":\"x\"}}}}}",
         0},
    };
    struct catalog *catalog = sample_catalog(objects, 2);
    const Banyandb__Database__V1__TopNAggregation *rule = catalog_topn(catalog, s("g"), s("t"));
    ck_assert_str_eq(rule->source_measure->name, "m");
    ck_assert_str_eq(rule->criteria->condition->value->str->value, "x");
    ck_assert_ptr_null(catalog_topn(catalog, s("g"), s("m")));
    catalog_release(&catalog);
}
END_TEST

START_TEST(bad)
{
    static const struct {
        const char *kind;
        const char *source;
        const char *text;
    } table[] = {
        {"group", "{\"metadata\":{\"name\":\"g\"},\"catalog\":\"CATALOG_MEASURE\"}", "no shards"},
        {"group",
         "{\"metadata\":{\"name\":\"g\"},\"catalog\":2,\"resourceOpts\":{\"shardNum\":1,"
         "\"segmentInterval\":{\"num\":1},\"ttl\":{\"unit\":1,\"num\":1}}}",
         "segment interval"},
        {"group",
         "{\"metadata\":{\"name\":\"g\"},\"catalog\":2,\"resourceOpts\":{\"shardNum\":1,"
         "\"segmentInterval\":{\"unit\":1,\"num\":1}}}",
         "ttl"},
        {"group", "{\"metadata\":{\"name\":\"\"}}", "no name"},
        {"measure", "{\"metadata\":{\"group\":\"g\",\"name\":\"m\"}}", "no entity"},
        {"measure",
         "{\"metadata\":{\"group\":\"g\",\"name\":\"m\"},\"entity\":{\"tagNames\":[\"a\"]}}",
         "no tag families"},
        {"measure",
         "{\"metadata\":{\"group\":\"g\",\"name\":\"m\"},\"entity\":{\"tagNames\":[\"a\"]},"
         "\"tagFamilies\":[{\"name\":\"f\",\"tags\":[{\"name\":\"a\"}]}]}",
         "tag 0 of family f"},
        {"measure",
         "{\"metadata\":{\"group\":\"g\",\"name\":\"m\"},\"entity\":{\"tagNames\":[\"a\"]},"
         "\"tagFamilies\":[{\"tags\":[]}]}",
         "a tag family has no name"},
        {"measure",
         "{\"metadata\":{\"group\":\"g\",\"name\":\"m\"},\"entity\":{\"tagNames\":[\"a\"]},"
         "\"tagFamilies\":[{\"name\":\"f\"}],\"fields\":[{\"name\":\"v\"}]}",
         "field v"},
        {"measure",
         "{\"metadata\":{\"group\":\"g\",\"name\":\"m\"},\"entity\":{\"tagNames\":[\"a\"]},"
         "\"tagFamilies\":[{\"name\":\"f\"}],\"indexMode\":true,\"fields\":[{\"name\":\"v\"}]}",
         "index mode"},
        {"measure", "{\"metadata\":{\"name\":\"m\"}}", "no group"},
        {"indexRule", "{\"metadata\":{\"group\":\"g\",\"name\":\"r\"}}", "no id"},
        {"indexRule", "{\"metadata\":{\"group\":\"g\",\"name\":\"r\",\"id\":1}}", "no tags"},
        {"indexRule", "{\"metadata\":{\"group\":\"g\",\"name\":\"r\",\"id\":1},\"tags\":[\"a\"]}",
         "no type"},
        {"indexRuleBinding", "{\"metadata\":{\"group\":\"g\",\"name\":\"b\"}}", "no subject"},
        {"indexRuleBinding",
         "{\"metadata\":{\"group\":\"g\",\"name\":\"b\"},\"subject\":{\"catalog\":2,\"name\":\"m\"}"
         "}",
         "no rules"},
        {"topNAggregation", "{\"metadata\":{\"group\":\"g\",\"name\":\"t\"}}", "no source measure"},
        {"topNAggregation",
         "{\"metadata\":{\"group\":\"g\",\"name\":\"t\"},\"sourceMeasure\":{\"group\":\"g\","
         "\"name\":\"m\"}}",
         "no field"},
        {"measure", "{\"metadata\":{\"group\":\"g\",\"name\":\"m\",\"id\":\"x\"}}",
         "metadata.id: a whole number"},
        {"measure", "{}", "metadata is missing"},
    };
    struct catalog_store *store = catalog_store_new();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct error err = {0};
        struct sample_object object = {table[i].kind, table[i].source, 0};
        Banyandb__Property__V1__Property *property = sample_property(&object);
        ck_assert_int_eq(catalog_store_put(store, property, &err), CATALOG_BAD);
        ck_assert_msg(strstr(err.text, table[i].text) != NULL, "row %zu: %s", i, err.text);
        ck_assert_msg(strncmp(err.text, "property ", 9) == 0, "row %zu: %s", i, err.text);
        sample_property_free(&property);
    }
    catalog_store_free(&store);
}
END_TEST

/* What a server may send wrong in the property itself. */
START_TEST(bad_properties)
{
    struct catalog_store *store = catalog_store_new();
    struct sample_object object = {"measure", MEASURE("g", "m", "a"), 1};
    Banyandb__Property__V1__Property *property = sample_property(&object);
    struct error err = {0};
    char *name = property->tags[1]->value->str->value;
    property->tags[1]->value->str->value = strdup("other");
    ck_assert_int_eq(catalog_store_put(store, property, &err), CATALOG_BAD);
    ck_assert_str_eq(err.text,
                     "property measure_g/m: the source is of g/m, the tags are of g/other");
    free(property->tags[1]->value->str->value);
    property->tags[1]->value->str->value = name;

    char *key = property->tags[2]->key;
    property->tags[2]->key = strdup("sauce");
    ck_assert_int_eq(catalog_store_put(store, property, &err), CATALOG_BAD);
    ck_assert_str_eq(err.text, "property measure_g/m: there is no source tag");
    free(property->tags[2]->key);
    property->tags[2]->key = key;

    char *source = property->tags[2]->value->str->value;
    char *large = calloc(1, 1100001);
    memset(large, ' ', 1100000);
    property->tags[2]->value->str->value = large;
    ck_assert_int_eq(catalog_store_put(store, property, &err), CATALOG_BAD);
    ck_assert_ptr_nonnull(strstr(err.text, "the source has 1100000 bytes, at most 1048576"));
    property->tags[2]->value->str->value = source;
    free(large);

    /* Kinds of other engines, and kinds that nobody knows. */
    char *kind = property->tags[3]->value->str->value;
    property->tags[3]->value->str->value = strdup("stream");
    ck_assert_int_eq(catalog_store_put(store, property, &err), CATALOG_UNCHANGED);
    free(property->tags[3]->value->str->value);
    property->tags[3]->value->str->value = kind;
    /* Without the tag the metadata's name tells. */
    property->tags[3]->key[0] = 'K';
    ck_assert_int_eq(catalog_store_put(store, property, &err), CATALOG_CHANGED);
    sample_property_free(&property);
    catalog_store_free(&store);
}
END_TEST

/* A bad new revision leaves the old one. */
START_TEST(bad_revision)
{
    struct catalog_store *store = catalog_store_new();
    put(store, "group", GROUP("g"), 1);
    put(store, "measure", MEASURE("g", "m", "a"), 10);
    ck_assert_int_eq(put(store, "measure", "{\"metadata\":{\"group\":\"g\",\"name\":\"m\"}}", 20),
                     CATALOG_BAD);
    ck_assert_str_eq(tag_now(store), "a");
    ck_assert_int_eq(catalog_store_revision(store), 20);
    catalog_store_free(&store);
}
END_TEST

static int64_t placement_now(const struct catalog_store *store)
{
    struct catalog *catalog = catalog_snapshot(store);
    int64_t time = catalog_placement_time(catalog);
    catalog_release(&catalog);
    return time;
}

/* Written under a clock that was wrong. */
START_TEST(the_future)
{
    struct catalog_store *store = catalog_store_new();
    catalog_store_clock(store, 100);
    ck_assert_int_eq(put(store, "group", GROUP("g"), 5), CATALOG_CHANGED);
    ck_assert_int_eq(put(store, "measure", MEASURE("g", "m", "b"), 5000), CATALOG_CHANGED);
    ck_assert_str_eq(tag_now(store), "b");
    ck_assert_int_eq(catalog_store_revision(store), 5);
    /* It is still the registry that says what is newer. */
    ck_assert_int_eq(put(store, "measure", MEASURE("g", "m", "c"), 90), CATALOG_UNCHANGED);
    ck_assert_int_eq(put(store, "measure", MEASURE("g", "m", "d"), 5001), CATALOG_CHANGED);
    ck_assert_str_eq(tag_now(store), "d");
    ck_assert_int_eq(catalog_store_revision(store), 90);
    ck_assert_int_eq(drop(store, "measure", MEASURE("g", "m", "d"), 5001, 95), CATALOG_CHANGED);
    ck_assert_str_eq(tag_now(store), "");
    ck_assert_int_eq(drop(store, "measure", MEASURE("g", "m", "d"), 5001, 6000), CATALOG_UNCHANGED);
    ck_assert_int_eq(catalog_store_revision(store), 95);
    /* A placement changed at the latest now. */
    ck_assert_int_eq(put(store, "group", GROUP("h"), 5000), CATALOG_CHANGED);
    ck_assert_int_eq(placement_now(store), 100);
    catalog_store_clock(store, 200);
    ck_assert_int_eq(put(store, "group", GROUP("i"), 200), CATALOG_CHANGED);
    ck_assert_int_eq(placement_now(store), 200);
    ck_assert_int_eq(catalog_store_revision(store), 200);
    catalog_store_free(&store);
}
END_TEST

static void count_ids(void *owner, const char *id, int64_t updated_at)
{
    ck_assert(strcmp(id, "group_g") == 0 ? updated_at == 5 : strcmp(id, "measure_g/m") == 0);
    ++*(size_t *)owner;
}

START_TEST(each_and_forget)
{
    struct catalog_store *store = catalog_store_new();
    put(store, "group", GROUP("g"), 5);
    put(store, "measure", MEASURE("g", "m", "a"), 10);
    put(store, "measure", MEASURE("g", "gone", "a"), 10);
    drop(store, "measure", MEASURE("g", "gone", "a"), 10, 11);
    size_t count = 0;
    catalog_store_each(store, count_ids, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(catalog_store_forget(store, "measure_g/x"), CATALOG_UNCHANGED);
    ck_assert_int_eq(catalog_store_forget(store, "measure_g/gone"), CATALOG_UNCHANGED);
    ck_assert_int_eq(catalog_store_forget(store, "measure_g/m"), CATALOG_CHANGED);
    ck_assert_str_eq(tag_now(store), "");
    ck_assert_int_eq(put(store, "measure", MEASURE("g", "m", "a"), 10), CATALOG_CHANGED);
    catalog_store_free(&store);
}
END_TEST

/* Any group of any kind moves shards, a measure does not. */
START_TEST(placement)
{
    struct catalog_store *store = catalog_store_new();
    ck_assert_int_eq(placement_now(store), 0);
    put(store, "group", GROUP("g"), 50);
    ck_assert_int_eq(placement_now(store), 50);
    put(store, "measure", MEASURE("g", "m", "a"), 90);
    ck_assert_int_eq(placement_now(store), 50);
    put(store, "group", "{\"metadata\":{\"name\":\"s\"},\"catalog\":\"CATALOG_STREAM\"}", 60);
    ck_assert_int_eq(placement_now(store), 60);
    struct catalog *catalog = catalog_snapshot(store);
    ck_assert_ptr_null(catalog_group(catalog, s("s")));
    ck_assert_uint_eq(catalog_count(catalog, SCHEMA_GROUP), 2);
    catalog_release(&catalog);
    drop(store, "group", "{\"metadata\":{\"name\":\"s\"},\"catalog\":\"CATALOG_STREAM\"}", 60, 70);
    ck_assert_int_eq(placement_now(store), 70);
    /* Deleted, nobody remembers when. */
    ck_assert_int_eq(catalog_store_forget(store, "group_g"), CATALOG_CHANGED);
    ck_assert_int_eq(placement_now(store), 90);
    catalog_store_free(&store);
}
END_TEST

START_TEST(many)
{
    enum { OBJECTS = 10000 };
    struct catalog_store *store = catalog_store_new();
    put(store, "group", GROUP("g"), 1);
    for (size_t i = 0; i < OBJECTS; i++) {
        char source[512];
        size_t n = i * 7919 % OBJECTS;
        snprintf(
            source, sizeof source,
            "{\"metadata\":{\"group\":\"g\",\"name\":\"m%zu\"},\"tagFamilies\":[{\"name\":\"f\"}],"
            "\"entity\":{\"tagNames\":[\"a\"]}}",
            n);
        ck_assert_int_eq(put(store, "measure", source, 1), CATALOG_CHANGED);
    }
    clock_t start = clock();
    struct catalog *catalog = catalog_snapshot(store);
    double ms = (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
    printf("snapshot of %d objects: %.2f ms\n", OBJECTS, ms);
    for (size_t i = 0; i < OBJECTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%zu", i);
        ck_assert_ptr_nonnull(catalog_measure(catalog, s("g"), s(name)));
    }
    catalog_release(&catalog);
    catalog_store_free(&store);
}
END_TEST

/* Tombstones do not pile up without end. */
START_TEST(many_deletions)
{
    struct catalog_store *store = catalog_store_new();
    put(store, "group", GROUP("g"), 1);
    put(store, "measure", MEASURE("g", "m", "a"), 1);
    Banyandb__Property__V1__Property *property =
        sample_property(&(struct sample_object){"measure", MEASURE("g", "m", "a"), 1});
    char *name = property->tags[1]->value->str->value;
    char text[32];
    property->tags[1]->value->str->value = text;
    for (size_t i = 0; i < 60000; i++) {
        snprintf(text, sizeof text, "gone%08zu", i);
        ck_assert_int_eq(catalog_store_delete(store, property, 5), CATALOG_UNCHANGED);
    }
    property->tags[1]->value->str->value = name;
    sample_property_free(&property);
    ck_assert_str_eq(tag_now(store), "a");
    catalog_store_free(&store);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalog");
    TCase *tcase = tcase_create("catalog");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, newest_wins);
    tcase_add_test(tcase, deletions);
    tcase_add_test(tcase, any_order);
    tcase_add_test(tcase, snapshots);
    tcase_add_test(tcase, lookups);
    tcase_add_test(tcase, topn);
    tcase_add_test(tcase, bad);
    tcase_add_test(tcase, bad_properties);
    tcase_add_test(tcase, bad_revision);
    tcase_add_test(tcase, the_future);
    tcase_add_test(tcase, each_and_forget);
    tcase_add_test(tcase, placement);
    tcase_add_test(tcase, many);
    tcase_add_test(tcase, many_deletions);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
