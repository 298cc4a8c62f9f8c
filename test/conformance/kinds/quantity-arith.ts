import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import {
  type Quantity,
  addQuantities,
  compareQuantities,
  subtractQuantities,
} from '#shared/domain/quantity/quantity.ts';
import { type WireObject, readPointerText, refuseField } from '#shared/kube/decode/wire-object.ts';
import { readCase } from '#test/conformance/required.ts';

/** Kind `quantity-arith`: two quantities compared, added and subtracted. */
export function answer(raw: unknown): unknown {
  const { a, b } = readCase(raw, (vector) => ({ a: readOperand(vector, 'a'), b: readOperand(vector, 'b') }));
  return {
    cmp: compareQuantities(a, b),
    sum: formatQuantity(addQuantities(a, b)),
    sub: formatQuantity(subtractQuantities(a, b)),
  };
}

function readOperand(vector: WireObject, key: string): Quantity {
  const parsed = parseQuantity(readPointerText(vector, key) ?? '');
  return parsed.ok ? parsed.quantity : refuseField(key, 'expected a quantity');
}
