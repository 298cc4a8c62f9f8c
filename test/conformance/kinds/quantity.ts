import { canonicalQuantity, formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { type Quantity, quantityMilliValue, quantitySign, quantityValue } from '#shared/domain/quantity/quantity.ts';
import { parseWireQuantity, readPointerText } from '#shared/kube/decode/wire-object.ts';
import { readCase } from '#test/conformance/required.ts';

/** Integers with a larger exponent are left out of answers, as the recorder does with those of more than 400 digits. */
const LARGEST_EXPONENT = 400;

/** Kind `quantity`: one text, parsed and printed. */
export function answer(raw: unknown): unknown {
  const text = readCase(raw, (vector) => readPointerText(vector, 'in')) ?? '';
  const parsed = parseQuantity(text);
  if (!parsed.ok) return { ok: false, error: parsed.error, ...describeWire(text) };
  const { quantity } = parsed;
  return {
    ok: true,
    canonical: formatQuantity(quantity),
    recomputed: canonicalQuantity(quantity),
    format: quantity.format,
    ...describeIntegers(quantity),
    cmpZero: quantitySign(quantity),
  };
}

function describeWire(text: string): object {
  const parsed = parseWireQuantity(text);
  return parsed.ok ? { wireOk: true, wireCanonical: formatQuantity(parsed.quantity) } : {};
}

function describeIntegers(quantity: Quantity): object {
  if (quantity.mantissa !== 0 && quantity.exponent > LARGEST_EXPONENT) return {};
  return { value: String(quantityValue(quantity)), milli: String(quantityMilliValue(quantity)) };
}
