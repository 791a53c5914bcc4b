declare const type: unique symbol;

/** Whether a value is always there, or may be absent. */
export type Presence = 'present' | 'absent';
type Present = 'present';

/** What every expression has. */
interface CelValue<Name extends string, P extends Presence> {
  readonly [type]: { readonly name: Name; readonly presence: P };
  /** Whether it is there: CEL's `has(…)`. */
  has(): CelBool;
}

/** Any expression: for what is written into an object. */
export type AnyCel = CelValue<string, Presence>;

/** Any expression that is never absent. */
export type PresentCel = CelValue<string, Present>;

/** An expression that decides something. An absent boolean counts as false, as in JavaScript. */
export type CelTest = CelBool<Presence>;

/** A value to compare with: of JavaScript, or an expression, absent or not. */
export type Operand<T> = T | CelOf<T, Presence>;

/** The type of the values of an expression, or of a plain value. */
export type ValueOf<T> =
  T extends CelBool<Presence>
    ? boolean
    : T extends CelNumber<Presence>
      ? number
      : T extends CelString<infer S, Presence>
        ? S
        : T extends CelList<infer E, Presence>
          ? readonly E[]
          : T extends CelMap<infer V, Presence>
            ? { readonly [key: string]: V }
            : T extends CelObject<infer O, Presence>
              ? O
              : T extends string
                ? string
                : T extends number
                  ? number
                  : T extends boolean
                    ? boolean
                    : T extends readonly (infer E)[]
                      ? readonly ValueOf<E>[]
                      : unknown;

type IsAny<T> = 0 extends 1 & T ? true : false;
type Defined<T> = Exclude<T, undefined | null>;

/**
 * The expression that stands for values of type `T`. What may be undefined or null in `T` may be absent: tests on it are
 * then false, lists and maps empty, and anything else requires `.orElse(…)` first. So it is in JavaScript with `?.`.
 */
export type CelOf<T, P extends Presence = Present> =
  IsAny<T> extends true
    ? CelDynamic<P>
    : unknown extends T
      ? CelDynamic<P>
      : [Extract<T, undefined | null>] extends [never]
        ? Expression<T, P>
        : Expression<Defined<T>, 'present' | 'absent'>;

type Expression<T, P extends Presence> = [T] extends [never]
  ? CelDynamic<P>
  : [T] extends [boolean]
    ? CelBool<P>
    : [T] extends [number]
      ? CelNumber<P>
      : [T] extends [string]
        ? CelString<T, P>
        : [T] extends [number | string]
          ? CelIntOrString<P>
          : T extends readonly (infer E)[]
            ? CelList<E, P>
            : T extends object
              ? string extends keyof T
                ? CelMap<T[keyof T & string], P>
                : CelObject<T, P>
              : CelDynamic<P>;

/** A boolean. */
export interface CelBool<P extends Presence = Present> extends CelValue<'bool', P> {
  and(...others: readonly CelTest[]): CelBool;
  or(...others: readonly CelTest[]): CelBool;
  not(): CelBool;
  /** Whether the other one is true if this one is. */
  implies(other: CelTest): CelBool;
  equals(other: Operand<boolean>): CelBool;
  notEquals(other: Operand<boolean>): CelBool;
  orElse(value: Operand<boolean>): CelBool;
  toText(): CelString<string, P>;
}

/** A value that can be compared with others of its type. An absent one is neither more nor less than any. */
interface Ordered<Value> {
  gt(other: Value): CelBool;
  gte(other: Value): CelBool;
  lt(other: Value): CelBool;
  lte(other: Value): CelBool;
  equals(other: Value): CelBool;
  notEquals(other: Value): CelBool;
}

/** An integer, or a double where the schema has `number`. `div` of integers drops the fraction. */
export interface CelNumber<P extends Presence = Present> extends CelValue<'number', P>, Ordered<Operand<number>> {
  in(list: readonly number[] | CelList<number, Presence>): CelBool;
  orElse(value: number | CelNumber): CelNumber;
  plus(other: number | CelNumber): CelNumber<P>;
  minus(other: number | CelNumber): CelNumber<P>;
  times(other: number | CelNumber): CelNumber<P>;
  div(other: number | CelNumber): CelNumber<P>;
  /** The remainder of integers. */
  mod(other: number | CelNumber): CelNumber<P>;
  negate(): CelNumber<P>;
  toInt(): CelNumber<P>;
  toDouble(): CelNumber<P>;
  toText(): CelString<string, P>;
}

/** The formats that `hasFormat` knows. */
export type CelFormat =
  | 'dns1123Label'
  | 'dns1123Subdomain'
  | 'dns1035Label'
  | 'qualifiedName'
  | 'dns1123LabelPrefix'
  | 'dns1123SubdomainPrefix'
  | 'dns1035LabelPrefix'
  | 'labelValue'
  | 'uri'
  | 'uuid'
  | 'byte'
  | 'date'
  | 'datetime';

/** A string. Positions count characters, as code points. */
export interface CelString<T extends string = string, P extends Presence = Present>
  extends CelValue<'string', P>,
    Ordered<T | CelString<string, Presence>> {
  in(list: readonly T[] | CelList<string, Presence>): CelBool;
  orElse(value: string | CelString): CelString;
  startsWith(prefix: Operand<string>): CelBool;
  endsWith(suffix: Operand<string>): CelBool;
  contains(part: Operand<string>): CelBool;
  /** Whether a regular expression of RE2 matches somewhere. */
  matches(pattern: string | RegExp): CelBool;
  /** The first match, or `''`. */
  find(pattern: string | RegExp): CelString<string, P>;
  findAll(pattern: string | RegExp): CelList<string, P>;
  /** Characters; 0 if it is absent. */
  size(): CelNumber;
  concat(...others: readonly (string | CelString)[]): CelString<string, P>;
  lowerAscii(): CelString<string, P>;
  upperAscii(): CelString<string, P>;
  trim(): CelString<string, P>;
  replace(part: string | CelString, by: string | CelString, count?: number): CelString<string, P>;
  split(separator: string | CelString, count?: number): CelList<string, P>;
  substring(from: number | CelNumber, to?: number | CelNumber): CelString<string, P>;
  charAt(index: number | CelNumber): CelString<string, P>;
  indexOf(part: string | CelString): CelNumber<P>;
  lastIndexOf(part: string | CelString): CelNumber<P>;
  hasFormat(format: CelFormat): CelBool;
  toInt(): CelNumber<P>;
  toDouble(): CelNumber<P>;
  asDuration(): CelDuration<P>;
  asTimestamp(): CelTimestamp<P>;
  asQuantity(): CelQuantity<P>;
  asUrl(): CelUrl<P>;
  asIp(): CelIp<P>;
  asCidr(): CelCidr<P>;
  asSemver(): CelSemver<P>;
  isQuantity(): CelBool;
  isUrl(): CelBool;
  isIp(): CelBool;
  isCidr(): CelBool;
  isSemver(): CelBool;
}

/** An integer or a string, such as a port or `25%`. */
export interface CelIntOrString<P extends Presence = Present> extends CelValue<'int-or-string', P> {
  isInt(): CelBool;
  isString(): CelBool;
  equals(other: Operand<number> | Operand<string> | CelIntOrString<Presence>): CelBool;
  notEquals(other: Operand<number> | Operand<string> | CelIntOrString<Presence>): CelBool;
  orElse(value: number | string): CelIntOrString;
  toInt(): CelNumber<P>;
  toText(): CelString<string, P>;
}

/** A list. One that is absent is empty. */
export interface CelList<E, P extends Presence = Present> extends CelValue<'list', P> {
  readonly [type]: { readonly name: 'list'; readonly presence: P; readonly of?: E };
  all(test: (item: CelOf<E>) => CelTest): CelBool;
  exists(test: (item: CelOf<E>) => CelTest): CelBool;
  existsOne(test: (item: CelOf<E>) => CelTest): CelBool;
  filter(test: (item: CelOf<E>) => CelTest): CelList<E, P>;
  map<T>(value: (item: CelOf<E>) => T): CelList<ValueOf<T>, P>;
  size(): CelNumber;
  isEmpty(): CelBool;
  includes(item: Operand<E>): CelBool;
  at(index: number | CelNumber): CelOf<E | undefined>;
  equals(other: readonly E[] | CelList<E, Presence>): CelBool;
  notEquals(other: readonly E[] | CelList<E, Presence>): CelBool;
  orElse(value: readonly E[] | CelList<E>): CelList<E>;
  /** Of numbers; 0 for none. */
  sum(): CelNumber;
  /** Fails for an empty list. */
  min(): CelOf<E, P>;
  /** Fails for an empty list. */
  max(): CelOf<E, P>;
  isSorted(): CelBool;
  indexOf(item: Operand<E>): CelNumber<P>;
  lastIndexOf(item: Operand<E>): CelNumber<P>;
  slice(from: number, to: number): CelList<E, P>;
  distinct(): CelList<E, P>;
  sort(): CelList<E, P>;
  reverse(): CelList<E, P>;
  flatten(): CelList<E extends readonly (infer I)[] ? I : E, P>;
  /** Of strings. */
  join(separator?: string): CelString;
  containsAll(items: readonly E[] | CelList<E, Presence>): CelBool;
  intersects(items: readonly E[] | CelList<E, Presence>): CelBool;
  /** Whether both hold the same, in whatever order and number. */
  sameElements(items: readonly E[] | CelList<E, Presence>): CelBool;
}

/** A map with keys that are not known beforehand, such as labels. One that is absent is empty. */
export interface CelMap<V, P extends Presence = Present> extends CelValue<'map', P> {
  readonly [type]: { readonly name: 'map'; readonly presence: P; readonly of?: V };
  has(key?: string | CelString<string, Presence>): CelBool;
  get(key: string | CelString): CelOf<V | undefined>;
  all(test: (key: CelString, value: CelOf<V>) => CelTest): CelBool;
  exists(test: (key: CelString, value: CelOf<V>) => CelTest): CelBool;
  existsOne(test: (key: CelString, value: CelOf<V>) => CelTest): CelBool;
  map<T>(value: (key: CelString, value: CelOf<V>) => T): CelList<ValueOf<T>, P>;
  size(): CelNumber;
  isEmpty(): CelBool;
  equals(other: { readonly [key: string]: V } | CelMap<V, Presence>): CelBool;
  notEquals(other: { readonly [key: string]: V } | CelMap<V, Presence>): CelBool;
  orElse(value: { readonly [key: string]: V }): CelMap<V>;
}

interface ObjectMethods<T, P extends Presence> extends CelValue<'object', P> {
  readonly [type]: { readonly name: 'object'; readonly presence: P; readonly of?: T };
  equals(other: CelObject<T, Presence>): CelBool;
  notEquals(other: CelObject<T, Presence>): CelBool;
}

/** An object with known fields. A field that is called like a method hides the method. */
export type CelObject<T, P extends Presence = Present> = {
  readonly [K in keyof T & string]-?: CelOf<T[K], P>;
} & Omit<ObjectMethods<T, P>, keyof T>;

/** A value of unknown type: name the type with `as`. */
export interface CelDynamic<P extends Presence = Present> extends CelValue<'dyn', P> {
  as<T>(): CelOf<T, P>;
  equals(other: unknown): CelBool;
  notEquals(other: unknown): CelBool;
  get(key: string | number): CelDynamic<Presence>;
}

/** A length of time. */
export interface CelDuration<P extends Presence = Present>
  extends CelValue<'duration', P>,
    Ordered<CelDuration<Presence>> {
  orElse(value: CelDuration): CelDuration;
  plus(other: CelDuration): CelDuration<P>;
  minus(other: CelDuration): CelDuration<P>;
  getHours(): CelNumber<P>;
  getMinutes(): CelNumber<P>;
  getSeconds(): CelNumber<P>;
  getMilliseconds(): CelNumber<P>;
}

/** A point in time. */
export interface CelTimestamp<P extends Presence = Present>
  extends CelValue<'timestamp', P>,
    Ordered<CelTimestamp<Presence>> {
  orElse(value: CelTimestamp): CelTimestamp;
  plus(other: CelDuration): CelTimestamp<P>;
  minus(other: CelTimestamp): CelDuration<P>;
  getFullYear(zone?: string): CelNumber<P>;
  getMonth(zone?: string): CelNumber<P>;
  getDate(zone?: string): CelNumber<P>;
  getDayOfWeek(zone?: string): CelNumber<P>;
  getDayOfYear(zone?: string): CelNumber<P>;
  getHours(zone?: string): CelNumber<P>;
  getMinutes(zone?: string): CelNumber<P>;
  getSeconds(zone?: string): CelNumber<P>;
}

/** A quantity such as `500m` or `1Gi`. */
export interface CelQuantity<P extends Presence = Present>
  extends CelValue<'quantity', P>,
    Ordered<CelQuantity<Presence>> {
  orElse(value: CelQuantity): CelQuantity;
  plus(other: CelQuantity | number): CelQuantity<P>;
  minus(other: CelQuantity | number): CelQuantity<P>;
  sign(): CelNumber<P>;
  isInteger(): CelBool;
  asInteger(): CelNumber<P>;
  asApproximateFloat(): CelNumber<P>;
}

/** A version as semver.org has it. */
export interface CelSemver<P extends Presence = Present> extends CelValue<'semver', P>, Ordered<CelSemver<Presence>> {
  orElse(value: CelSemver): CelSemver;
  major(): CelNumber<P>;
  minor(): CelNumber<P>;
  patch(): CelNumber<P>;
}

/** A URL. */
export interface CelUrl<P extends Presence = Present> extends CelValue<'url', P> {
  equals(other: CelUrl<Presence>): CelBool;
  getScheme(): CelString<string, P>;
  getHost(): CelString<string, P>;
  getHostname(): CelString<string, P>;
  getPort(): CelString<string, P>;
  getEscapedPath(): CelString<string, P>;
  getQuery(): CelMap<readonly string[], P>;
}

/** An IP address. */
export interface CelIp<P extends Presence = Present> extends CelValue<'ip', P> {
  equals(other: CelIp<Presence>): CelBool;
  /** 4 or 6. */
  family(): CelNumber<P>;
  isUnspecified(): CelBool;
  isLoopback(): CelBool;
  isLinkLocalMulticast(): CelBool;
  isLinkLocalUnicast(): CelBool;
  isGlobalUnicast(): CelBool;
  toText(): CelString<string, P>;
}

/** A network such as `10.0.0.0/8`. */
export interface CelCidr<P extends Presence = Present> extends CelValue<'cidr', P> {
  equals(other: CelCidr<Presence>): CelBool;
  containsIP(address: string | CelString | CelIp): CelBool;
  containsCIDR(network: string | CelString | CelCidr): CelBool;
  prefixLength(): CelNumber<P>;
  ip(): CelIp<P>;
  masked(): CelCidr<P>;
  toText(): CelString<string, P>;
}

/** The server's authorizer, for the user of the request. */
export interface CelAuthorizer {
  path(path: string | CelString): CelPathCheck;
  group(group: string | CelString): CelGroupCheck;
  serviceAccount(namespace: string | CelString, name: string | CelString): CelAuthorizer;
  /** The object of the request. */
  readonly requestResource: CelResourceCheck;
}

export interface CelGroupCheck {
  resource(plural: string | CelString): CelResourceCheck;
}

export interface CelPathCheck {
  check(verb: string | CelString): CelDecision;
}

export interface CelResourceCheck extends CelPathCheck {
  subresource(name: string | CelString): CelResourceCheck;
  namespace(name: string | CelString): CelResourceCheck;
  name(name: string | CelString): CelResourceCheck;
  fieldSelector(selector: string | CelString): CelResourceCheck;
  labelSelector(selector: string | CelString): CelResourceCheck;
}

export interface CelDecision {
  allowed(): CelBool;
  errored(): CelBool;
  reason(): CelString;
  error(): CelString;
}
