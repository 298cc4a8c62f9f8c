import fc from 'fast-check';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';

/** A name of anything. */
export const word = fc.stringMatching(/^[a-z][a-z0-9.-]{0,20}[a-z0-9]$/);

const labelValue = fc.stringMatching(/^[a-z]{0,5}$/);
const listed = fc.record({
  key: word,
  operator: fc.constantFrom('In', 'NotIn'),
  values: fc.array(labelValue, { minLength: 1, maxLength: 4 }),
});
const asked = fc.record({ key: word, operator: fc.constantFrom('Exists', 'DoesNotExist', 'Sideways') });

/** A label selector, now and then one that the API server would refuse. */
export const selector = fc.record(
  {
    matchLabels: fc.dictionary(word, labelValue, { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
    matchExpressions: fc.array(fc.oneof(listed, asked), { minLength: 1, maxLength: 4 }),
  },
  { requiredKeys: [] },
);

/** A quantity as the API prints it. */
export const quantity = fc
  .tuple(fc.nat(), fc.constantFrom('', 'm', 'k', 'Mi', 'Gi', '.5Gi', 'e3'))
  .map(([number, suffix]) => canonical(`${number}${suffix}`));

function canonical(text: string): string {
  const parsed = parseQuantity(text);
  return parsed.ok ? formatQuantity(parsed.quantity) : '0';
}

/** Quantities by resource name. */
export const amounts = fc.dictionary(word, quantity, { minKeys: 1, maxKeys: 5, noNullPrototype: true });

/** An RFC 3339 time. */
export const time = fc.integer({ min: 0, max: 2 ** 41 }).map((at) => new Date(at).toISOString());
