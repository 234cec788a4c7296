// SPDX-License-Identifier: Apache-2.0
/* Dates are those of whoever wrote the object: a clock that was wrong then must not rule here. */
#include "liaison/cluster/schema_intake.h"

#include "liaison/loop.h"
#include "proto/catalog_tags.h"

#define MODULE          "SCHEMA"
#define NS_PER_S        1000000000
#define CLOCKS_APART_NS ((int64_t)300 * NS_PER_S) /* of this machine and of those who write */

void schema_intake_init(struct schema_intake *intake, struct log *log)
{
    *intake = (struct schema_intake){.store = catalog_store_new(), .log = log};
}

void schema_intake_fini(struct schema_intake *intake)
{
    catalog_store_free(&intake->store);
    known_objects_fini(&intake->known);
}

/* Told once. It is looked at again when it comes again: another server may have it unharmed. */
static void on_bad(struct schema_intake *intake, const struct schema_intake_object *told,
                   int64_t updated_at, const struct error *why)
{
    const char *id = told->property->id;
    if (!known_objects_has(&intake->known, id, updated_at)) {
        log_error(intake->log, MODULE, "a schema object is not accepted; id=%s node=%s error=%s",
                  id, told->node, why->text);
        known_objects_note(&intake->known, id, updated_at);
    }
}

static void on_changed(const struct schema_intake *intake, const struct schema_intake_object *told,
                       int64_t updated_at, int64_t now)
{
    if (updated_at > now + CLOCKS_APART_NS) {
        log_warn(intake->log, MODULE,
                 "a schema object is dated in the future; id=%s node=%s ahead_s=%lld",
                 told->property->id, told->node, (long long)((updated_at - now) / NS_PER_S));
    }
}

static enum catalog_change store(struct schema_intake *intake,
                                 const struct schema_intake_object *told, int64_t now,
                                 struct error *why)
{
    catalog_store_clock(intake->store, now + CLOCKS_APART_NS);
    return told->delete_time != 0
               ? catalog_store_delete(intake->store, told->property, told->delete_time)
               : catalog_store_put(intake->store, told->property, why);
}

bool schema_intake_object(struct schema_intake *intake, const struct schema_intake_object *told)
{
    struct error why;
    const int64_t now = loop_wall_ns();
    const int64_t updated_at = catalog_tags_of(told->property).updated_at;
    switch (store(intake, told, now, &why)) {
    case CATALOG_CHANGED:
        on_changed(intake, told, updated_at, now);
        return true;
    case CATALOG_UNCHANGED:
        if (told->asked) {
            known_objects_note(&intake->known, told->property->id, updated_at);
        }
        break;
    case CATALOG_BAD:
        on_bad(intake, told, updated_at, &why);
        break;
    }
    return false;
}

bool schema_intake_digest(struct schema_intake *intake,
                          const Banyandb__Property__V1__Property *property, int64_t delete_time)
{
    struct error ignored; /* a deletion is never bad */
    const struct schema_intake_object told = {.property = property, .delete_time = delete_time};
    return delete_time != 0 && store(intake, &told, loop_wall_ns(), &ignored) == CATALOG_CHANGED;
}

bool schema_intake_wants(const struct schema_intake *intake, const char *id, int64_t updated_at)
{
    return !known_objects_has(&intake->known, id, updated_at);
}
