import {
  dns1035LabelName,
  dnsLabelName,
  dnsSubdomainName,
  labelValue,
  qualifiedName,
} from '../../schema/name-rules.js';
import { hasFormat } from '../../schema/structural/formats.js';
import { goQuote } from '../../status/go-quote.js';
import { listOf, opaque, optionalOf, stringType } from '../language/cel-type.js';
import { type Functions, member, plain } from '../language/overload.js';
import { list, type OpaqueValue, Optional } from '../language/value.js';

/** A named format, which texts can be checked against. */
class FormatValue implements OpaqueValue {
  readonly isOpaque = true;
  readonly typeName = 'kubernetes.NamedFormat';

  readonly name: string;
  /** The problems of a text. */
  readonly check: (text: string) => readonly string[];
  /** The cost of a check depends on it. */
  readonly maxRegexSize: number;

  constructor(name: string, check: (text: string) => readonly string[], maxRegexSize: number) {
    this.name = name;
    this.check = check;
    this.maxRegexSize = maxRegexSize;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof FormatValue && other.name === this.name;
  }
}

const format = opaque('kubernetes.NamedFormat');
const ofSchema = (name: string, problem: string) => (text: string) => (hasFormat(text, name) ? [] : [problem]);

const named: Readonly<Record<string, FormatValue>> = {
  dns1123Label: new FormatValue('DNS1123Label', (text) => dnsLabelName(text), 30),
  dns1123Subdomain: new FormatValue('DNS1123Subdomain', (text) => dnsSubdomainName(text), 60),
  dns1035Label: new FormatValue('DNS1035Label', (text) => dns1035LabelName(text), 30),
  qualifiedName: new FormatValue('QualifiedName', qualifiedName, 60),
  dns1123LabelPrefix: new FormatValue('DNS1123LabelPrefix', (text) => dnsLabelName(text, true), 30),
  dns1123SubdomainPrefix: new FormatValue('DNS1123SubdomainPrefix', (text) => dnsSubdomainName(text, true), 60),
  dns1035LabelPrefix: new FormatValue('DNS1035LabelPrefix', (text) => dns1035LabelName(text, true), 30),
  labelValue: new FormatValue('LabelValue', labelValue, 40),
  uri: new FormatValue(
    'URI',
    (text) => (hasFormat(text, 'uri') ? [] : [`parse ${goQuote(text)}: invalid URI for request`]),
    2000,
  ),
  uuid: new FormatValue('uuid', ofSchema('uuid', 'does not match the UUID format'), 83),
  byte: new FormatValue('byte', ofSchema('byte', 'invalid base64'), 92),
  date: new FormatValue('date', ofSchema('date', 'invalid date'), 120),
  datetime: new FormatValue('datetime', ofSchema('datetime', 'invalid datetime'), 120),
};

/** Formats by name: `format.dns1123Label().validate(text)`. */
export const formats: Functions = {
  ...Object.fromEntries(
    Object.entries(named).map(([name, value]) => [
      `format.${name}`,
      [plain(`format.${name}`, [], format, () => value)],
    ]),
  ),
  'format.named': [
    plain(
      'format-named',
      [stringType],
      optionalOf(format),
      (name: string) => new Optional(Object.hasOwn(named, name) ? named[name] : undefined),
    ),
  ],
  validate: [
    member('format-validate', [format, stringType], optionalOf(listOf(stringType)), (of: FormatValue, text: string) => {
      const problems = of.check(text);
      return new Optional(problems.length === 0 ? undefined : list(problems));
    }),
  ],
};
