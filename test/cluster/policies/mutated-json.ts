import type { RandomSource } from '#test/fakes/random-source.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Texts that have broken readers of quantities, names and templates before. */
export const dearTexts: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  '+1',
  '-0',
  '1.',
  '.5',
  '1e3',
  '1E3',
  '1E',
  '1Ei',
  '9e999',
  '1e-30',
  '0.000000001',
  '9'.repeat(40),
  '9223372036854775807',
  '9223372036854775808Ei',
  '٣',
  "'",
  '`',
  '\\',
  '${x}',
  '{{x}}',
  '\u0000',
  '\u2028',
  '🙂',
  'true',
  'null',
  'Guaranteed',
  'BestEffort',
  'Burstable',
  'Never',
  'system:masters',
  'x'.repeat(253),
  'x'.repeat(5_000),
];
const QUANTITIES = [
  '0',
  '1',
  '500m',
  '0.5',
  '1e3',
  '1Ki',
  '1024',
  '9e17',
  '9e999',
  '1n',
  '0.000000001',
  '-1',
  '1Ei',
  '+1',
  '1.',
];
const NUMBERS = [0, -1, 1, 10, 1_000, 2_147_483_647, -2_147_483_648, 2_147_483_648, 2 ** 53, 1.5];
const REPEATS = [2, 50, 101, 300];
const ODD_VALUES: readonly Json[] = [null, true, '', 0, [], {}];
/** What a tenant could add, of the type that belongs there. */
const ADDITIONS: Readonly<Record<string, readonly Json[]>> = {
  cpu: QUANTITIES,
  memory: QUANTITIES,
  'hugepages-2Mi': QUANTITIES,
  requests: [{}, { cpu: '1' }, { memory: '0' }],
  limits: [{}, { cpu: '1' }, { memory: '0' }],
  resources: [{}, { requests: {} }, { limits: { cpu: '0' } }],
  priorityClassName: dearTexts,
  serviceAccountName: dearTexts,
  restartPolicy: dearTexts,
  x: dearTexts,
};

/** Values in all; what is larger is tried apart, for copies of copies grow without end. */
const MAX_PARTS = 4_000;

/** Changes one place of it, chosen at random: removes, replaces, repeats or adds. */
export function mutated(random: RandomSource, root: Json): void {
  const holders = holdersIn(root);
  if (holders.length > MAX_PARTS) return;
  const holder = random.pick(holders);
  if (Array.isArray(holder)) changeList(random, holder, holders);
  else changeObject(random, holder, holders);
}

type Holder = Json[] | { [key: string]: Json };

/** Everything that has parts, the root first. */
function holdersIn(value: Json): Holder[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(holdersIn)];
}

function changeList(random: RandomSource, list: Json[], holders: readonly Holder[]): void {
  if (list.length === 0 || random.chance(0.05)) return void list.push(anything(random, holders));
  const index = random.below(list.length);
  if (random.chance(0.3)) return void list.splice(index, 1);
  const item = list[index] ?? null;
  if (list.length < 100 && random.chance(0.5)) list.push(...copies(random, item, holders.length));
  else list[index] = instead(random, item, holders);
}

function copies(random: RandomSource, item: Json, parts: number): Json[] {
  const length = Math.min(random.pick(REPEATS), Math.ceil((MAX_PARTS - parts) / (1 + holdersIn(item).length)));
  return Array.from({ length: Math.max(0, length) }, () => structuredClone(item));
}

function changeObject(random: RandomSource, object: { [key: string]: Json }, holders: readonly Holder[]): void {
  const keys = Object.keys(object);
  if (keys.length === 0 || random.chance(0.2)) {
    addTo(random, object);
    return;
  }
  const key = random.pick(keys);
  const value = object[key] ?? null;
  if (random.chance(0.3)) Reflect.deleteProperty(object, key);
  else object[key] = instead(random, value, holders);
}

function addTo(random: RandomSource, object: { [key: string]: Json }): void {
  const [key, values] = random.pick(Object.entries(ADDITIONS));
  object[key] = structuredClone(random.pick(values));
}

/** Mostly of the same type: others do not get past the API server's decoder. */
function instead(random: RandomSource, value: Json, holders: readonly Holder[]): Json {
  if (random.chance(0.02)) return structuredClone(random.pick(ODD_VALUES));
  if (typeof value === 'string') return random.pick(/^\d/.test(value) && random.chance(0.9) ? QUANTITIES : dearTexts);
  if (typeof value === 'number') return random.pick(NUMBERS);
  if (typeof value === 'boolean') return !value;
  const alike = holders.filter((each) => Array.isArray(each) === Array.isArray(value));
  return anything(random, alike);
}

function anything(random: RandomSource, holders: readonly Holder[]): Json {
  return random.chance(0.9) && holders.length > 0
    ? structuredClone(random.pick(holders))
    : random.pick([...dearTexts, ...NUMBERS]);
}
