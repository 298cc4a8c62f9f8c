import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  advanceScan,
  startScan,
  type ReviewScan,
  type ScanLimits,
  UNREAD_IN_PODS,
} from '#webhook/request-body/review-scan.ts';

const SEED = 20_261_122;
const LIMITS: ScanLimits = { depth: 200, values: 10_000 };

/** Scans a text in pieces that end at these places, and gives what is left of it. */
function scanned(json: string | Buffer, limits = LIMITS, ends: readonly number[] = [], unread?: readonly Buffer[]) {
  const bytes = Buffer.from(json);
  const scan = startScan(limits, unread);
  for (const end of [...ends, bytes.length]) advanceScan(scan, bytes, end);
  return { scan, text: bytes.toString('utf8') };
}

function excess(json: string, limits: Partial<ScanLimits>): ReviewScan['beyond'] {
  return scanned(json, { ...LIMITS, ...limits }).scan.beyond;
}

describe('what a review may hold', () => {
  const depths: Record<string, { json: string; depth: number; beyond: 'depth' | undefined }> = {
    'a flat value': { json: '"x"', depth: 0, beyond: undefined },
    'exactly the limit': { json: '[[[]]]', depth: 3, beyond: undefined },
    'one more': { json: '[[[[]]]]', depth: 3, beyond: 'depth' },
    'objects and arrays together': { json: '{"a":[{"b":[1]}]}', depth: 3, beyond: 'depth' },
    'many side by side': { json: `[${'[],'.repeat(1_000)}1]`, depth: 2, beyond: undefined },
    'brackets in a string': { json: `["${'['.repeat(1_000)}"]`, depth: 1, beyond: undefined },
    'brackets after an escaped quote': { json: '["\\"[[[["]', depth: 1, beyond: undefined },
    'brackets after an escaped backslash': { json: '["\\\\",[[]]]', depth: 2, beyond: 'depth' },
    'a million arrays': { json: '['.repeat(1_000_000), depth: 200, beyond: 'depth' },
    'a string that never ends': { json: '["[[[[', depth: 1, beyond: undefined },
    'a string that ends in a backslash': { json: '["\\', depth: 1, beyond: undefined },
    nothing: { json: '', depth: 0, beyond: undefined },
  };
  test.each(Object.entries(depths))('in depth: %s', (_, { json, depth, beyond }) => {
    expect(excess(json, { depth })).toBe(beyond);
  });

  const counts: Record<string, { json: string; beyond: 'values' | undefined }> = {
    'as many as allowed': { json: '[1,2,{"a":3}]', beyond: undefined },
    'one comma more': { json: '[1,2,{"a":3,"b":4}]', beyond: 'values' },
    'one object more': { json: '[1,{},{"a":3}]', beyond: 'values' },
    'arrays without a comma': { json: '[[[[[]]]]]', beyond: 'values' },
    'commas in a string': { json: '["a,b,c,d,e"]', beyond: undefined },
    'two objects within the limit': { json: '{"r":{"o":{"a":1},"oldObject":{"a":[1,2]}}}', beyond: undefined },
    'an object beyond it, then a small old one': { json: '{"r":{"o":[1,2],"oldObject":{}}}', beyond: 'values' },
    'an old object beyond it': { json: '{"r":{"oldObject":{"a":[1,2],"b":3,"c":4}}}', beyond: 'values' },
    'old objects again and again': { json: `{"r":{${'"oldObject":{},'.repeat(9)}"a":1}}`, beyond: 'values' },
  };
  test.each(Object.entries(counts))('in number: %s', (_, { json, beyond }) => {
    expect(excess(json, { values: 4 })).toBe(beyond);
  });
});

describe('managedFields', () => {
  const sent = '"fieldsV1":{"f:spec":{"f:priorityClassName":{}}}';
  const SENT = [{ fieldsV1: { 'f:spec': { 'f:priorityClassName': {} } } }];
  const OTHER = [{}];
  const cases: Record<string, { list: string; becomes: unknown }> = {
    'that are empty stay': { list: '[]', becomes: [] },
    'of one entry without fields': { list: '[{"manager":"m"}]', becomes: OTHER },
    'by which a client sent the class': { list: `[{"manager":"m",${sent},"time":"t"}]`, becomes: SENT },
    'and nothing more': { list: `[{${sent}}]`, becomes: SENT },
    'in the second entry': { list: `[{"manager":"m"},{${sent}}]`, becomes: SENT },
    'among other fields': {
      list: '[{"fieldsV1":{"f:metadata":{"f:labels":{}},"f:spec":{"f:containers":{"k":{}},"f:priorityClassName":{}}}}]',
      becomes: SENT,
    },
    'that name the class elsewhere': {
      list: '[{"fieldsV1":{"f:spec":{"f:template":{"f:spec":{"f:priorityClassName":{}}}}}}]',
      becomes: OTHER,
    },
    'that name it next to the spec': { list: '[{"fieldsV1":{"f:spec":{},"f:priorityClassName":{}}}]', becomes: OTHER },
    'that name it in an array': { list: '[[{"fieldsV1":{"f:spec":{"f:priorityClassName":{}}}}]]', becomes: OTHER },
    'that name it as a value': { list: '[{"fieldsV1":{"f:spec":{"f:x":"f:priorityClassName"}}}]', becomes: OTHER },
    'with brackets in keys': { list: '[{"fieldsV1":{"k:{\\"name\\":\\"a]\\"}":{}}}]', becomes: OTHER },
    'nested 10,000 deep': { list: `[{"fieldsV1":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}]`, becomes: OTHER },
    'of a million arrays': { list: `[${'[],'.repeat(1_000_000)}[]]`, becomes: OTHER },
    'that are no JSON': { list: '[{"a":tru,}]', becomes: OTHER },
  };
  test.each(Object.entries(cases))('%s', (_, { list, becomes }) => {
    const { scan, text } = scanned(`{"a":{"managedFields":${list},"b":[1,2]}}`);
    expect(JSON.parse(text)).toEqual({ a: { managedFields: becomes, b: [1, 2] } });
    expect([scan.beyond, scan.depth, scan.values]).toEqual([undefined, 0, 5]);
  });

  test('are skipped wherever they are, and what follows them is counted', () => {
    const twice = '{"managedFields":[[[[[]]]]],"t":{"managedFields":[[[[[]]]]]},"x":[[[[]]]]}';
    expect(excess(twice, { depth: 4 })).toBe('depth');
    expect(excess(twice, { depth: 5 })).toBeUndefined();
  });

  test('are read in any encoding', () => {
    const bytes = Buffer.from('{"managedFields":[{"f:\u00ff\u00fe":{}}],"b":1}', 'latin1');
    expect(JSON.parse(scanned(bytes).text)).toEqual({ managedFields: OTHER, b: 1 });
  });

  const others = {
    'a text of that name': '{"managedFields":"[[[["}',
    'an object of that name': '{"managedFields":{"a":[{"b":1}]}}',
    'a longer name': '{"xmanagedFields":[{"b":1}]}',
    'the name as a value': '{"a":"managedFields","b":[{"c":1}]}',
    'the name in another text': '{"a":"\\"managedFields\\":[1,2]"}',
  };
  test.each(Object.entries(others))('%s is left alone', (_, json) => {
    expect(scanned(json).text).toBe(json);
  });

  test('that never end leave invalid JSON', () => {
    expect(() => void JSON.parse(scanned('{"managedFields":[{"a":[').text)).toThrow(SyntaxError);
  });
});

describe('lists of a pod that no decision reads', () => {
  const ENV = '[{"name":"A","value":"x]}"},{"name":"B","valueFrom":{"env":[1,{"managedFields":[{"a":1}]}]}}]';
  const emptied = (json: string, ends?: readonly number[]) => scanned(json, LIMITS, ends, UNREAD_IN_PODS);

  test('are emptied, and counted like all others', () => {
    const json = `{"spec":{"containers":[{"env":${ENV},"name":"c"}]},"b":[1]}`;
    const { scan, text } = emptied(json);
    expect(JSON.parse(text)).toEqual({ spec: { containers: [{ env: [], name: 'c' }] }, b: [1] });
    expect(scan.values).toBe(scanned(json).scan.values);
  });

  const others = {
    'where they are wanted': { json: '{"env":[1]}', unread: [] },
    'a text': { json: '{"env":"[1]"}', unread: UNREAD_IN_PODS },
    'an object': { json: '{"env":{"a":[1]}}', unread: UNREAD_IN_PODS },
    'a longer key': { json: '{"xenv":[1]}', unread: UNREAD_IN_PODS },
    'without an end': { json: '{"env":[1', unread: UNREAD_IN_PODS },
    'after a bracket too many': { json: ']]{"a":1}}]', unread: UNREAD_IN_PODS },
  };
  test.each(Object.entries(others))('are left alone: %s', (_, { json, unread }) => {
    expect(scanned(json, LIMITS, [], unread).text).toBe(json);
  });

  test('are bounded in depth and number', () => {
    const limits = { depth: 5, values: 20 };
    expect(scanned('{"env":[[[[[[]]]]]]}', limits, [], UNREAD_IN_PODS).scan.beyond).toBe('depth');
    expect(scanned(`{"env":[${'1,'.repeat(30)}1]}`, limits, [], UNREAD_IN_PODS).scan.beyond).toBe('values');
  });

  test('are emptied also where they arrive in chunks', () => {
    const json = `{"a":{"env":${ENV},"b":1}}`;
    for (let end = 1; end < json.length; end += 1)
      expect(emptied(json, [end])).toMatchObject({ text: emptied(json).text });
  });
});

describe('a review that arrives in chunks', () => {
  const key = fc.constantFrom('managedFields', 'fieldsV1', 'f:spec', 'f:priorityClassName', 'a"]\\', 'ü€');
  const { value } = fc.letrec<{ value: unknown; list: unknown; object: unknown }>((tie) => ({
    value: fc.oneof({ maxDepth: 6 }, fc.string(), fc.integer(), fc.constant(null), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  }));

  /** What the scan is to leave of a value. */
  function withoutManagedFields(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((each: unknown) => withoutManagedFields(each));
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(
      Object.entries(node).map(([name, child]: [string, unknown]) => [
        name,
        name === 'managedFields' && Array.isArray(child) ? summaryOf(child) : withoutManagedFields(child),
      ]),
    );
  }

  function summaryOf(entries: readonly unknown[]): unknown {
    if (JSON.stringify(entries).length < '[{}]'.length) return entries;
    const isSent = entries.some((entry) => {
      const spec = fieldOf(fieldOf(entry, 'fieldsV1'), 'f:spec');
      const field = fieldOf(spec, 'f:priorityClassName');
      return typeof field === 'object' && field !== null && !Array.isArray(field);
    });
    return isSent ? [{ fieldsV1: { 'f:spec': { 'f:priorityClassName': {} } } }] : [{}];
  }

  function fieldOf(node: unknown, name: string): unknown {
    return typeof node === 'object' && node !== null && !Array.isArray(node)
      ? (node as Record<string, unknown>)[name]
      : undefined;
  }

  test('is scanned like one that arrives at once, and keeps everything but managedFields', () => {
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 12 });
    fc.assert(
      fc.property(value, cuts, (node, at) => {
        const json = JSON.stringify(node);
        const ends = at.toSorted((a, b) => a - b).filter((end) => end < Buffer.byteLength(json));
        const whole = scanned(json);
        const pieces = scanned(json, LIMITS, ends);
        expect(pieces.text).toBe(whole.text);
        expect([pieces.scan.values, pieces.scan.depth]).toEqual([whole.scan.values, whole.scan.depth]);
        expect(JSON.parse(whole.text)).toEqual(withoutManagedFields(node));
      }),
      { seed: SEED, numRuns: 5_000 },
    );
  });
});
