// SPDX-License-Identifier: Apache-2.0
/* Both messages are read by one walker and a table of the wire types their fields must have. */
#include "frame/envelope.h"

#include "frame/wire.h"

#define FRAME_FIRST_BYTE 0x00      /* no protobuf begins so: it would be field number 0 */
#define FIELDS_MAX       (1 << 19) /* a trace has the most, one for each of its spans */

enum { MESSAGE_ID = 1, ERROR_TEXT = 2, BODY = 3, STATUS = 4, COMPATIBILITY = 5 };
enum { DATA_POINTS = 1, TRACE = 2, RAW_FRAME_BODY = 3 };
enum { TRACE_ERROR = 3 };

/* The wire type that each known field of a message must have. */
struct shape {
    const char *name;
    uint32_t count; /* fields 1 … count are known */
    enum wire_type types[6];
};

static const struct shape send_response = {
    .name = "SendResponse",
    .count = 5,
    .types = {[MESSAGE_ID] = WIRE_VARINT,
              [ERROR_TEXT] = WIRE_BYTES,
              [BODY] = WIRE_BYTES,
              [STATUS] = WIRE_VARINT,
              [COMPATIBILITY] = WIRE_BYTES},
};

static const struct shape internal_query_response = {
    .name = "InternalQueryResponse",
    .count = 3,
    .types = {[DATA_POINTS] = WIRE_BYTES, [TRACE] = WIRE_BYTES, [RAW_FRAME_BODY] = WIRE_BYTES},
};

static const struct shape trace_message = {
    .name = "Trace",
    .count = 3,
    .types = {[1] = WIRE_BYTES, [2] = WIRE_BYTES, [TRACE_ERROR] = WIRE_VARINT},
};

/* A message that is read in one go. */
struct walk {
    const struct shape *shape; /* borrow: static */
    struct slice whole;        /* borrow */
    struct wire wire;
    size_t fields; /* so far */
};

static struct walk walk_of(const struct shape *shape, struct slice whole)
{
    return (struct walk){.shape = shape, .whole = whole, .wire = wire_of(whole)};
}

/* As wire_next, but a known field of another wire type is broken too, and so are more fields than
 * can be walked in a few milliseconds; err is filled then. */
static enum wire_result next_of(struct walk *walk, struct wire_field *field, struct error *err)
{
    const struct shape *shape = walk->shape;
    enum wire_result result = wire_next(&walk->wire, field);
    if (result == WIRE_BROKEN) {
        error_set(err, ERROR_DATA_LOSS,
                  "%s of %zu bytes: no complete protobuf field before byte %zu", shape->name,
                  walk->whole.len, (size_t)(walk->wire.at - walk->whole.ptr));
    } else if (result == WIRE_FIELD && walk->fields++ == FIELDS_MAX) {
        error_set(err, ERROR_DATA_LOSS, "%s of %zu bytes: more than %d fields found", shape->name,
                  walk->whole.len, FIELDS_MAX);
        return WIRE_BROKEN;
    } else if (result == WIRE_FIELD && field->number <= shape->count &&
               field->type != shape->types[field->number]) {
        error_set(err, ERROR_DATA_LOSS, "%s field %u: wire type %d found, %d expected", shape->name,
                  field->number, (int)field->type, (int)shape->types[field->number]);
        return WIRE_BROKEN;
    }
    return result;
}

bool envelope_read(struct slice bytes, struct envelope *envelope, struct error *err)
{
    *envelope = (struct envelope){0};
    struct walk walk = walk_of(&send_response, bytes);
    struct wire_field field;
    enum wire_result result;
    while ((result = next_of(&walk, &field, err)) == WIRE_FIELD) {
        if (field.number == MESSAGE_ID) {
            envelope->message_id = field.value;
        } else if (field.number == ERROR_TEXT) {
            envelope->error = field.bytes;
        } else if (field.number == BODY) {
            envelope->body = field.bytes;
        } else if (field.number == STATUS) {
            envelope->status = (int32_t)(uint32_t)field.value;
        }
    }
    return result == WIRE_END;
}

/* What a short head tells about the field that stands at its cursor. */
struct peek {
    enum landing landing; /* KNOWN: number and type are set */
    uint32_t number;
    enum wire_type type;
};

/* A varint can fail for two reasons: the head ends inside it, or it is no varint at all. */
static enum landing peek_uvarint(struct wire *head, uint64_t *value_out)
{
    if (wire_uvarint(head, value_out)) {
        return LANDING_KNOWN;
    }
    return wire_left(head) < 10 ? LANDING_UNKNOWN : LANDING_NONE;
}

static struct peek peek_key(struct wire *head)
{
    uint64_t key = 0;
    struct peek peek = {.landing = peek_uvarint(head, &key)};
    peek.number = key >> 3 <= UINT32_MAX ? (uint32_t)(key >> 3) : 0;
    peek.type = (enum wire_type)(key & 7);
    return peek;
}

/* The body's own bytes begin at the cursor; a frame that it holds first may begin later. */
static enum landing landing_in_body(struct wire *head)
{
    if (wire_left(head) == 0) {
        return LANDING_UNKNOWN;
    }
    if (*head->at == FRAME_FIRST_BYTE) {
        return LANDING_KNOWN;
    }
    struct wire inner = *head;
    struct peek peek = peek_key(&inner);
    if (peek.landing != LANDING_KNOWN || peek.number != RAW_FRAME_BODY || peek.type != WIRE_BYTES) {
        return peek.landing == LANDING_UNKNOWN ? LANDING_UNKNOWN : LANDING_KNOWN;
    }
    uint64_t len;
    enum landing landing = peek_uvarint(&inner, &len);
    if (landing == LANDING_KNOWN) {
        *head = inner;
    }
    return landing;
}

enum landing envelope_landing(struct slice head, size_t *offset_out)
{
    struct wire wire = wire_of(head);
    while (true) {
        struct peek peek = peek_key(&wire);
        if (peek.landing != LANDING_KNOWN) {
            return peek.landing;
        }
        /* varints (message_id, status) are short; whatever else stands before may be long */
        if (peek.type != WIRE_VARINT && (peek.type != WIRE_BYTES || peek.number != BODY)) {
            return LANDING_NONE;
        }
        uint64_t value;
        enum landing landing = peek_uvarint(&wire, &value);
        if (landing != LANDING_KNOWN) {
            return landing;
        }
        if (peek.type == WIRE_BYTES) {
            landing = value == 0 ? LANDING_NONE : landing_in_body(&wire);
            *offset_out = (size_t)(wire.at - head.ptr);
            return landing;
        }
    }
}

static bool read_trace_error(struct slice trace, bool *error_out, struct error *err)
{
    struct walk walk = walk_of(&trace_message, trace);
    struct wire_field field;
    enum wire_result result;
    while ((result = next_of(&walk, &field, err)) == WIRE_FIELD) {
        if (field.number == TRACE_ERROR) {
            *error_out = field.value != 0;
        }
    }
    return result == WIRE_END;
}

bool envelope_answer(struct slice body, struct answer *answer, struct error *err)
{
    *answer = (struct answer){0};
    if (body.len == 0 || body.ptr[0] == FRAME_FIRST_BYTE) {
        answer->frame = body;
        return true;
    }
    struct walk walk = walk_of(&internal_query_response, body);
    struct wire_field field;
    enum wire_result result;
    while ((result = next_of(&walk, &field, err)) == WIRE_FIELD) {
        if (field.number == DATA_POINTS) {
            answer->has_points = true;
        } else if (field.number == TRACE) {
            answer->trace = field.bytes;
        } else if (field.number == RAW_FRAME_BODY) {
            answer->frame = field.bytes;
        }
    }
    return result == WIRE_END && read_trace_error(answer->trace, &answer->trace_error, err);
}
