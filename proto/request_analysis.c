// SPDX-License-Identifier: Apache-2.0
/* Reasons are made bare, as deep in a node as they arise there, and wrapped on the way out. */
#include "proto/request_analysis.h"

#include "proto/request_order.h"
#include "proto/request_schema.h"
#include "proto/request_text.h"

typedef Banyandb__Database__V1__Measure measure_schema;
typedef Banyandb__Measure__V1__QueryRequest query_request;
typedef Banyandb__Model__V1__TagProjection tag_projection;
typedef Banyandb__Model__V1__TagProjection__TagFamily tag_family;

static const char *enum_name(const ProtobufCEnumDescriptor *descriptor, int value)
{
    const ProtobufCEnumValue *found = protobuf_c_enum_descriptor_get_value(descriptor, value);
    return found == NULL ? "an unknown type" : found->name;
}

/* Projected names. Of several groups each is asked only for what it has. */

typedef bool tag_check(struct plan_tag tag, const measure_schema *measure, struct error *err);

static bool check_each(const tag_projection *projection, const measure_schema *measure,
                       tag_check *check, struct error *err)
{
    for (size_t i = 0; projection != NULL && i < projection->n_tag_families; i++) {
        const tag_family *family = projection->tag_families[i];
        bool good = true;
        for (size_t k = 0; k < family->n_tags && good; k++) {
            const struct plan_tag tag = {slice_str(family->name), slice_str(family->tags[k])};
            good = check(tag, measure, err);
        }
        if (!good) {
            return false;
        }
    }
    return true;
}

static bool is_defined(struct plan_tag tag, const measure_schema *measure, struct error *err)
{
    return request_schema_find_tag(measure, tag.name).family.ptr != NULL ||
           error_set(err, ERROR_UNKNOWN, "%.*s: tag is not defined", SLICE_ARG(tag.name));
}

static bool check_fields(const Banyandb__Measure__V1__QueryRequest__FieldProjection *projection,
                         const measure_schema *measure, struct error *err)
{
    for (size_t i = 0; projection != NULL && i < projection->n_names; i++) {
        if (!request_schema_has_field(measure, slice_str(projection->names[i]))) {
            return error_set(err, ERROR_UNKNOWN, "field %.200s not found in schema",
                             projection->names[i]);
        }
    }
    return true;
}

static bool check_projections(const struct request *request, const measure_schema *measure,
                              struct error *err)
{
    const query_request *message = request->message;
    return request->several || (check_each(message->tag_projection, measure, is_defined, err) &&
                                check_fields(message->field_projection, measure, err));
}

/* group_by and agg against the schema */

static bool check_keys(const tag_family *family, const measure_schema *measure, struct error *err)
{
    if (!request_schema_has_family(measure, slice_str(family->name))) {
        return error_set(err, ERROR_UNKNOWN,
                         "GroupBy tag family \"%.200s\" not present in measure schema",
                         family->name);
    }
    for (size_t i = 0; i < family->n_tags; i++) {
        const struct plan_tag key = {slice_str(family->name), slice_str(family->tags[i])};
        if (!request_schema_has_tag(measure, key)) {
            return error_set(err, ERROR_UNKNOWN,
                             "GroupBy tag %.200s.%.200s not present in measure schema",
                             family->name, family->tags[i]);
        }
    }
    return true;
}

static bool check_group_by(const query_request *message, const measure_schema *measure,
                           struct error *err)
{
    if (message->group_by == NULL) {
        return true;
    }
    const tag_projection *projection = message->group_by->tag_projection;
    if (projection == NULL || projection->n_tag_families == 0) {
        return error_set(err, ERROR_UNKNOWN,
                         "GroupBy.tag_projection must list at least one tag family");
    }
    if (projection->n_tag_families > 1) {
        return error_set(err, ERROR_UNKNOWN,
                         "GroupBy.tag_projection v1 supports a single tag family, got %zu",
                         projection->n_tag_families);
    }
    const tag_family *family = projection->tag_families[0];
    if (family->n_tags == 0) {
        return error_set(err, ERROR_UNKNOWN, "GroupBy.tag_projection family \"%.200s\" has no tags",
                         family->name);
    }
    return check_keys(family, measure, err);
}

static bool check_agg(const query_request *message, const measure_schema *measure,
                      struct error *err)
{
    if (message->agg == NULL ||
        request_schema_has_field(measure, slice_str(message->agg->field_name))) {
        return true;
    }
    return error_set(err, ERROR_UNKNOWN, "Agg field \"%.200s\" not present in measure schema",
                     message->agg->field_name);
}

/* A tag that is projected under a family of which it is not has no type, and reads as null. */
static bool has_known_type(struct plan_tag asked, const measure_schema *measure, struct error *err)
{
    const Banyandb__Database__V1__TagSpec *tag = request_schema_tag(measure, asked);
    if (tag == NULL || tag->type != BANYANDB__DATABASE__V1__TAG_TYPE__TAG_TYPE_TIMESTAMP) {
        return true;
    }
    return error_set(err, ERROR_UNKNOWN,
                     "vectorized.measure: tag %.*s.%.200s: unsupported tag type %s",
                     SLICE_ARG(asked.family), tag->name,
                     enum_name(&banyandb__database__v1__tag_type__descriptor, (int)tag->type));
}

static bool check_schema(const query_request *message, const measure_schema *measure,
                         struct error *err)
{
    const tag_projection *keys =
        message->group_by == NULL ? NULL : message->group_by->tag_projection;
    return (check_group_by(message, measure, err) && check_agg(message, measure, err) &&
            check_each(message->tag_projection, measure, has_known_type, err) &&
            check_each(keys, measure, has_known_type, err)) ||
           error_prefix(err, "vec dispatch: analyze: plan.Analyze");
}

/* What a node runs into while it executes the plan */

static bool check_function(const query_request *message, struct error *err)
{
    static const char where[] =
        "vec dispatch: execute: plan.Execute: plan.GroupByAgg.Build: vectorized.measure";
    if (message->agg == NULL) {
        return true;
    }
    int function = (int)message->agg->function;
    if (function == BANYANDB__MODEL__V1__AGGREGATION_FUNCTION__AGGREGATION_FUNCTION_UNSPECIFIED) {
        return error_set(err, ERROR_UNKNOWN, "%s: Agg.Function is UNSPECIFIED", where);
    }
    return protobuf_c_enum_descriptor_get_value(
               &banyandb__model__v1__aggregation_function__descriptor, function) != NULL ||
           error_set(err, ERROR_UNKNOWN, "%s: unknown AggregationFunction %d", where, function);
}

static bool check_field_type(const query_request *message, const measure_schema *measure,
                             struct error *err)
{
    if (message->agg == NULL) {
        return true;
    }
    const Banyandb__Database__V1__FieldSpec *field =
        request_schema_field(measure, slice_str(message->agg->field_name));
    if (field->field_type == BANYANDB__DATABASE__V1__FIELD_TYPE__FIELD_TYPE_INT ||
        field->field_type == BANYANDB__DATABASE__V1__FIELD_TYPE__FIELD_TYPE_FLOAT) {
        return true;
    }
    /* A node has no more to say than its first words. */
    return error_set(
        err, ERROR_UNKNOWN,
        "panic: agg needs a field of FIELD_TYPE_INT or FIELD_TYPE_FLOAT, %.200s is of %s",
        field->name,
        enum_name(&banyandb__database__v1__field_type__descriptor, (int)field->field_type));
}

/* A node's text to the client */

static bool fail(const struct request *request, struct error *err)
{
    const struct error said = *err;
    return request_text_fail(err,
                             "fail to execute the query plan for measure %.200s: code: "
                             "STATUS_INTERNAL_ERROR, msg: %s",
                             request->message->name, said.text);
}

static bool check_dispatch(const struct request *request, const struct request_group *group,
                           const struct catalog *catalog, struct error *err)
{
    const query_request *message = request->message;
    return (check_projections(request, group->measure, err) &&
            request_order_known(request, group, catalog, err) &&
            check_schema(message, group->measure, err) && check_function(message, err)) ||
           error_prefix(err, "fail to dispatch the query request for measure %.200s",
                        message->name);
}

bool request_analysis(const struct request *request, const struct catalog *catalog,
                      struct error *err)
{
    const query_request *message = request->message;
    if (message->group_by == NULL && message->agg == NULL) {
        return true;
    }
    for (size_t i = 0; i < request->group_count; i++) {
        const struct request_group *group = &request->groups[i];
        if (!check_dispatch(request, group, catalog, err) ||
            !check_field_type(message, group->measure, err)) {
            return fail(request, err);
        }
    }
    return true;
}
