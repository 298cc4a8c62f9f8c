import { ALLOWED, badInput, DENIED_400, DENIED_403, spec, type BadInput, type Expected } from './bad-input.ts';

const HIGH = { priorityClassName: 'high', priority: 1_000, preemptionPolicy: 'PreemptLowerPriority' };

/** A pod of class `high`, whose quota counts memory, that asks for these amounts, container by container. */
function asking(...amounts: readonly string[]): string {
  const containers = amounts.map((memory, index) => ({ name: `c${index}`, resources: { requests: { memory } } }));
  return spec({ ...HIGH, containers });
}

function each(id: string, texts: readonly string[], expected: Expected): readonly BadInput[] {
  return texts.map((text) =>
    badInput(id, `quantity ${JSON.stringify(text.slice(0, 30))}`, asking(text), expected, { path: '/validate' }),
  );
}

const MAX_INT64 = '9223372036854775807';

/** Quantities: B-27 to B-34. What each is worth stands in the recorded vectors; here, that it decides and is charged. */
export const QUANTITY_INPUTS: readonly BadInput[] = [
  ...each('B-27', ['1e3', '1E3', '1e-3', '1e+3'], ALLOWED),
  ...each('B-28', ['0.1m', '0.1n', '3.001n', '0.5e-9'], ALLOWED),
  ...each('B-29', [MAX_INT64, '9223372036854775808'], DENIED_403),
  badInput('B-29', 'a sum beyond 64 bits', asking(MAX_INT64, MAX_INT64), DENIED_403, { path: '/validate' }),
  ...each('B-30', ['8Ei', '9Ei', `${MAX_INT64}Ki`, '12E', '1000E'], DENIED_403),
  ...each('B-31', ['1e2147483647'], DENIED_403),
  ...each('B-31', ['1e4294967297', '1e-2147483648'], ALLOWED),
  ...each('B-31', ['1e-99999999999999999999', '1e99999999999999999999'], DENIED_400),
  ...each(
    'B-32',
    ['', '1i', '.5i', '0.1mi', '1.1.M', '1+1.0M', 'aoeu', '-3.01e-', '1,5', '１', '0x10', '1_000', 'Infinity', 'NaN'],
    DENIED_400,
  ),
  ...each('B-32', [' 1', '1 '], ALLOWED),
  ...each('B-33', ['1.', '.001', '+1', '1.G', '100.035Ki', '-0', '.', '-.'], ALLOWED),
  ...each('B-33', ['-1'], DENIED_403),
  ...each('B-34', ['1'.repeat(100_000), '1'.repeat(4_097)], DENIED_403),
];
