// SPDX-License-Identifier: Apache-2.0
/* The full compare: who wins an id, what is fetched, what is forgotten and when nothing is. */
#include "liaison/cluster/compare.h"
#include "tests/unit/frame/unit.h"

#include <stdio.h>

#define GROUP_SOURCE                                                                               \
    "{\"metadata\":{\"name\":\"%s\"},\"catalog\":\"CATALOG_MEASURE\",\"resourceOpts\":{\"shardNum" \
    "\":1,\"segmentInterval\":{\"unit\":\"UNIT_DAY\",\"num\":1},\"ttl\":{\"unit\":\"UNIT_DAY\","   \
    "\"num\":7}}}"

static struct catalog_store *store;
static struct compare compare;
static char actions_text[512];

/* Puts a group of this name and age into the store. */
static void hold(const char *name, int64_t updated_at)
{
    char source[512];
    char id[64];
    (void)snprintf(source, sizeof source, GROUP_SOURCE, name);
    (void)snprintf(id, sizeof id, "group_%s", name);
    const struct {
        const char *key;
        const char *text;
    } texts[] = {{"group", ""}, {"name", name}, {"source", source}, {"kind", "group"}};
    Banyandb__Model__V1__Str strings[4];
    Banyandb__Model__V1__TagValue values[5];
    Banyandb__Model__V1__Tag tags[5];
    Banyandb__Model__V1__Tag *list[5];
    Banyandb__Model__V1__Int number;
    Banyandb__Property__V1__Property property;
    for (size_t i = 0; i < 5; i++) {
        banyandb__model__v1__tag__init(&tags[i]);
        banyandb__model__v1__tag_value__init(&values[i]);
        tags[i].value = &values[i];
        list[i] = &tags[i];
    }
    for (size_t i = 0; i < 4; i++) {
        banyandb__model__v1__str__init(&strings[i]);
        tags[i].key = (char *)(uintptr_t)texts[i].key;
        strings[i].value = (char *)(uintptr_t)texts[i].text;
        values[i].value_case = BANYANDB__MODEL__V1__TAG_VALUE__VALUE_STR;
        values[i].str = &strings[i];
    }
    banyandb__model__v1__int__init(&number);
    number.value = updated_at;
    tags[4].key = (char[]){"updated_at"};
    values[4].value_case = BANYANDB__MODEL__V1__TAG_VALUE__VALUE_INT;
    values[4].int_ = &number;
    banyandb__property__v1__property__init(&property);
    property.id = id;
    property.n_tags = 5;
    property.tags = list;
    struct error err = {0};
    ck_assert_msg(catalog_store_put(store, &property, &err) == CATALOG_CHANGED, "%s", err.text);
}

static void tell(size_t source, const char *id, int64_t updated_at, int64_t delete_time)
{
    compare_add(&compare, &(struct compare_digest){.id = (char *)(uintptr_t)id,
                                                   .kind = SCHEMA_GROUP,
                                                   .updated_at = updated_at,
                                                   .delete_time = delete_time,
                                                   .source = source});
}

static void on_fetch(void *owner, const struct compare_digest *digest)
{
    (void)owner;
    const size_t used = strlen(actions_text);
    (void)snprintf(actions_text + used, sizeof actions_text - used, "fetch %s from %zu; ",
                   digest->id, digest->source);
}

static void on_forget(void *owner, const char *id)
{
    (void)owner;
    const size_t used = strlen(actions_text);
    (void)snprintf(actions_text + used, sizeof actions_text - used, "forget %s; ", id);
    ck_assert_int_eq(catalog_store_forget(store, id), CATALOG_CHANGED);
}

static const char *outcome(bool all_heard)
{
    actions_text[0] = '\0';
    compare_run(
        &compare, store,
        &(struct compare_actions){.fetch = on_fetch, .forget = all_heard ? on_forget : NULL});
    return actions_text;
}

static void setup(void)
{
    store = catalog_store_new();
}

static void teardown(void)
{
    compare_clear(&compare);
    catalog_store_free(&store);
}

START_TEST(nothing_to_do)
{
    ck_assert_str_eq(outcome(true), "");
    hold("a", 10);
    hold("b", 20);
    tell(0, "group_b", 20, 0);
    tell(0, "group_a", 10, 0);
    tell(1, "group_a", 10, 0);
    tell(1, "group_b", 5, 0); /* an older revision, still listed as live */
    tell(1, "group_b", 20, 0);
    ck_assert_str_eq(outcome(true), "");
}
END_TEST

START_TEST(newer_and_unknown_are_fetched_from_who_has_them)
{
    hold("b", 20);
    tell(0, "group_b", 20, 0);
    tell(1, "group_b", 30, 0);
    tell(1, "group_c", 1, 0);
    tell(0, "group_a", 1, 0);
    ck_assert_str_eq(outcome(true),
                     "fetch group_a from 0; fetch group_b from 1; fetch group_c from 1; ");
}
END_TEST

START_TEST(the_deleted_wins_among_equals)
{
    tell(0, "group_a", 10, 0);
    tell(1, "group_a", 10, 50);
    tell(0, "group_b", 10, 50); /* deleted, then made again */
    tell(1, "group_b", 60, 0);
    ck_assert_str_eq(outcome(true), "fetch group_b from 1; ");
}
END_TEST

START_TEST(what_nobody_tells_is_forgotten_when_all_were_heard)
{
    hold("a", 10);
    hold("b", 10);
    hold("c", 10);
    tell(0, "group_b", 10, 0);
    ck_assert_str_eq(outcome(false), "");
    ck_assert_str_eq(outcome(true), "forget group_a; forget group_c; ");
    compare_clear(&compare);
    ck_assert_str_eq(outcome(true), "forget group_b; ");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare");
    TCase *tcase = tcase_create("compare");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, nothing_to_do);
    tcase_add_test(tcase, newer_and_unknown_are_fetched_from_who_has_them);
    tcase_add_test(tcase, the_deleted_wins_among_equals);
    tcase_add_test(tcase, what_nobody_tells_is_forgotten_when_all_were_heard);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
