import { parseQuantity, type Quantity } from 'riata/object';
import { CelError } from '../language/cel-error.js';
import { boolType, doubleType, intType, opaque, stringType } from '../language/cel-type.js';
import { type Functions, member, plain } from '../language/overload.js';
import type { OpaqueValue } from '../language/value.js';

const typeName = 'kubernetes.Quantity';

class QuantityValue implements OpaqueValue {
  readonly isOpaque = true;
  readonly typeName = typeName;

  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && this.quantity.equals(other.quantity);
  }
}

const quantity = opaque(typeName);
const parsed = (text: string): Quantity | undefined => {
  try {
    return parseQuantity(text);
  } catch {
    return undefined;
  }
};

const regexProblem = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Quantities such as `500m` and `1Gi`. */
export const quantities: Functions = {
  quantity: [
    plain('string_to_quantity', [stringType], quantity, (text: string) => {
      const found = parsed(text);
      if (found === undefined) throw new CelError(regexProblem);
      return new QuantityValue(found);
    }),
  ],
  isQuantity: [plain('is_quantity_string', [stringType], boolType, (text: string) => parsed(text) !== undefined)],
  sign: [plain('quantity_sign', [quantity], intType, (of: QuantityValue) => BigInt(of.quantity.sign()))],
  isGreaterThan: [
    member(
      'quantity_is_greater_than',
      [quantity, quantity],
      boolType,
      (x: QuantityValue, y: QuantityValue) => x.quantity.compare(y.quantity) > 0,
    ),
  ],
  isLessThan: [
    member(
      'quantity_is_less_than',
      [quantity, quantity],
      boolType,
      (x: QuantityValue, y: QuantityValue) => x.quantity.compare(y.quantity) < 0,
    ),
  ],
  compareTo: [
    member('quantity_compare_to', [quantity, quantity], intType, (x: QuantityValue, y: QuantityValue) =>
      BigInt(Math.sign(x.quantity.compare(y.quantity))),
    ),
  ],
  asApproximateFloat: [
    member('quantity_get_float', [quantity], doubleType, (of: QuantityValue) => of.quantity.toNumber()),
  ],
  asInteger: [
    member('quantity_get_int', [quantity], intType, (of: QuantityValue) => {
      if (!isInteger(of.quantity)) throw new CelError('cannot convert value to integer');
      return of.quantity.value();
    }),
  ],
  isInteger: [member('quantity_is_integer', [quantity], boolType, (of: QuantityValue) => isInteger(of.quantity))],
  add: [
    member(
      'quantity_add',
      [quantity, quantity],
      quantity,
      (x: QuantityValue, y: QuantityValue) => new QuantityValue(x.quantity.add(y.quantity)),
    ),
    member(
      'quantity_add_int',
      [quantity, intType],
      quantity,
      (x: QuantityValue, y: bigint) => new QuantityValue(x.quantity.add(parseQuantity(String(y)))),
    ),
  ],
  sub: [
    member(
      'quantity_sub',
      [quantity, quantity],
      quantity,
      (x: QuantityValue, y: QuantityValue) => new QuantityValue(x.quantity.sub(y.quantity)),
    ),
    member(
      'quantity_sub_int',
      [quantity, intType],
      quantity,
      (x: QuantityValue, y: bigint) => new QuantityValue(x.quantity.sub(parseQuantity(String(y)))),
    ),
  ],
};

function isInteger(of: Quantity): boolean {
  const whole = of.value();
  return parseQuantity(String(whole)).equals(of) && whole <= 0x7fff_ffff_ffff_ffffn && whole >= -0x8000_0000_0000_0000n;
}
