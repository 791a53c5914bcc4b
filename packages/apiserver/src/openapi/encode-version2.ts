import type { Buffer } from 'node:buffer';
import { isJsonObject, type JsonObject } from 'riata/object';
import { ReverseWriter } from '../protobuf/reverse-writer.js';
import {
  any,
  each,
  fields,
  flag,
  inside,
  members,
  message,
  methods,
  security,
  text,
  validations,
  type Write,
  type WriteField,
} from './message-fields.js';

/**
 * A document of OpenAPI 2 in Protobuf, as gnostic's `openapi.v2.Document` has it: client-go asks for nothing else, e.g.
 * when kubectl validates a `List`.
 */
export function encodeVersion2(document: JsonObject): Buffer {
  const writer = new ReverseWriter(1024 * 1024);
  writeDocument(writer, document);
  return writer.take();
}

const schema: WriteField = (writer, number, value) => message(writeSchema)(writer, number, value);

const additional: WriteField = (writer, number, value) =>
  typeof value === 'boolean' ? inside(2, flag)(writer, number, value) : inside(1, schema)(writer, number, value);

const writeSchema: Write = fields(
  [
    [1, '$ref', text],
    [2, 'format', text],
    [3, 'title', text],
    [4, 'description', text],
    [5, 'default', any],
    ...validations(6),
    [21, 'additionalProperties', additional],
    [22, 'type', inside(1, text)],
    [23, 'items', inside(1, schema)],
    [24, 'allOf', each(schema)],
    [25, 'properties', inside(1, members(schema))],
    [30, 'example', any],
  ],
  31,
);

const bodyParameter = fields([
  [1, 'description', text],
  [2, 'name', text],
  [3, 'in', text],
  [4, 'required', flag],
  [5, 'schema', schema],
]);
const pathParameter = fields([
  [1, 'required', flag],
  [2, 'in', text],
  [4, 'name', text],
  [5, 'type', text],
  [19, 'uniqueItems', flag],
]);
const queryParameter = fields([
  [1, 'required', flag],
  [2, 'in', text],
  [4, 'name', text],
  [6, 'type', text],
  [20, 'uniqueItems', flag],
]);

const parameter: WriteField = inside(1, (writer, number, value) => {
  const place = isJsonObject(value) ? value.in : '';
  if (place === 'body') return inside(1, message(bodyParameter))(writer, number, value);
  const plain = place === 'path' ? inside(4, message(pathParameter)) : inside(3, message(queryParameter));
  return inside(2, plain)(writer, number, value);
});

const response = message(
  fields([
    [1, 'description', text],
    [2, 'schema', inside(1, schema)],
  ]),
);

const operation = message(
  fields(
    [
      [1, 'tags', each(text)],
      [5, 'operationId', text],
      [6, 'produces', each(text)],
      [7, 'consumes', each(text)],
      [8, 'parameters', each(parameter)],
      [9, 'responses', inside(1, members(inside(1, response)))],
      [10, 'schemes', each(text)],
    ],
    13,
  ),
);

const pathItem = message(fields([...methods(2, operation), [9, 'parameters', each(parameter)]]));

const apiKey = message(
  fields([
    [1, 'type', text],
    [2, 'name', text],
    [3, 'in', text],
    [4, 'description', text],
  ]),
);

const info = message(
  fields([
    [1, 'title', text],
    [2, 'version', text],
  ]),
);

const writeDocument = fields([
  [1, 'swagger', text],
  [2, 'info', info],
  [8, 'paths', inside(2, members(pathItem))],
  [9, 'definitions', inside(1, members(schema))],
  [12, 'security', security],
  [13, 'securityDefinitions', inside(1, members(inside(2, apiKey)))],
]);
