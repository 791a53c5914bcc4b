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

/** A document of OpenAPI 3 in Protobuf, as gnostic's `openapi.v3.Document` has it. */
export function encodeVersion3(document: JsonObject): Buffer {
  const writer = new ReverseWriter(256 * 1024);
  writeDocument(writer, document);
  return writer.take();
}

const reference = message(fields([[1, '$ref', text]]));

/** A thing itself, or where it stands. */
const orReference = (own: WriteField): WriteField => {
  const [there, here] = [inside(2, reference), inside(1, own)];
  return (writer, number, value) =>
    (isJsonObject(value) && value.$ref !== undefined ? there : here)(writer, number, value);
};

const schema: WriteField = orReference((writer, number, value) => message(writeSchema)(writer, number, value));

const additional: WriteField = (writer, number, value) =>
  typeof value === 'boolean' ? inside(2, isSet)(writer, number, value) : inside(1, schema)(writer, number, value);

/** Where one of several is given, it is written even if it is nothing. */
const isSet: WriteField = (writer, number, value) => writer.bool(number, value === true);

/** Numbers, texts and truths; there is no place for anything else. */
const defaultValue: WriteField = (writer, number, value) => {
  const mark = writer.length;
  if (typeof value === 'number') writer.double(1, value);
  else if (typeof value === 'boolean') writer.bool(2, value);
  else if (typeof value === 'string') writer.string(3, value);
  writer.close(number, mark);
};

const writeSchema: Write = fields(
  [
    [1, 'nullable', flag],
    [3, 'readOnly', flag],
    [4, 'writeOnly', flag],
    [7, 'example', any],
    [8, 'deprecated', flag],
    [9, 'title', text],
    ...validations(10),
    [25, 'type', text],
    [26, 'allOf', each(schema)],
    [27, 'oneOf', each(schema)],
    [28, 'anyOf', each(schema)],
    [29, 'not', (writer, number, value) => message(writeSchema)(writer, number, value)],
    [30, 'items', inside(1, schema)],
    [31, 'properties', inside(1, members(schema))],
    [32, 'additionalProperties', additional],
    [33, 'default', defaultValue],
    [34, 'description', text],
    [35, 'format', text],
  ],
  36,
);

const content = inside(1, members(message(fields([[1, 'schema', schema]]))));

const parameter = orReference(
  message(
    fields([
      [1, 'name', text],
      [2, 'in', text],
      [3, 'description', text],
      [4, 'required', flag],
      [10, 'schema', schema],
      [13, 'content', content],
    ]),
  ),
);

const requestBody = orReference(
  message(
    fields([
      [1, 'description', text],
      [2, 'content', content],
      [3, 'required', flag],
    ]),
  ),
);

const response = orReference(
  message(
    fields([
      [1, 'description', text],
      [3, 'content', content],
    ]),
  ),
);

const operation = message(
  fields(
    [
      [1, 'tags', each(text)],
      [3, 'description', text],
      [5, 'operationId', text],
      [6, 'parameters', each(parameter)],
      [7, 'requestBody', requestBody],
      [8, 'responses', inside(2, members(response))],
      [10, 'deprecated', flag],
    ],
    13,
  ),
);

const pathItem = message(
  fields([[3, 'description', text], ...methods(4, operation), [13, 'parameters', each(parameter)]]),
);

const info = message(
  fields([
    [1, 'title', text],
    [2, 'description', text],
    [6, 'version', text],
  ]),
);

const securityScheme = orReference(
  message(
    fields([
      [1, 'type', text],
      [2, 'description', text],
      [3, 'name', text],
      [4, 'in', text],
    ]),
  ),
);

const components = message(
  fields([
    [1, 'schemas', inside(1, members(schema))],
    [7, 'securitySchemes', inside(1, members(securityScheme))],
  ]),
);

const writeDocument = fields([
  [1, 'openapi', text],
  [2, 'info', info],
  [4, 'paths', inside(1, members(pathItem))],
  [5, 'components', components],
  [6, 'security', security],
]);
