import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import { decodePreemptionArgs, encodePreemptionResult, readPreemptionArgs } from '#scheduler/extender/preempt-verb.ts';

const Pod = { metadata: { name: 'incoming', namespace: 'a', uid: 'u' }, spec: { priority: 10, containers: [] } };

function proposalOf(args: object): unknown {
  const decoded = decodePreemptionArgs({ Pod, ...args });
  return decoded.ok ? decoded.value.proposal : `${decoded.field}: ${decoded.message}`;
}

describe('decodePreemptionArgs', () => {
  test('the pod', () => {
    expect(decodePreemptionArgs({ Pod })).toMatchObject({ ok: true, value: { pod: { name: 'incoming', uid: 'u' } } });
  });

  test.each<[string, object, unknown]>([
    [
      'victims by UID',
      {
        NodeNameToMetaVictims: { n0: { Pods: [{ UID: 'x' }, { UID: 'y' }], NumPDBViolations: 1 } },
        NodeNameToVictims: null,
      },
      [{ node: 'n0', uids: ['x', 'y'], budgetViolations: 1 }],
    ],
    [
      'whole pods',
      { NodeNameToMetaVictims: null, NodeNameToVictims: { n0: { Pods: [{ metadata: { uid: 'x' } }] } } },
      [{ node: 'n0', uids: ['x'], budgetViolations: 0 }],
    ],
    [
      'nodes without victims',
      { NodeNameToMetaVictims: { n0: null, n1: { Pods: null }, n2: { Pods: [] }, n3: {} } },
      ['n0', 'n1', 'n2', 'n3'].map((node) => ({ node, uids: [], budgetViolations: 0 })),
    ],
    ['no nodes', {}, []],
    [
      'a list in place of nodes',
      { NodeNameToMetaVictims: [] },
      'NodeNameToMetaVictims: expected an object, got a list',
    ],
    [
      'a UID that is a number',
      { NodeNameToMetaVictims: { n0: { Pods: [{ UID: 7 }] } } },
      'NodeNameToMetaVictims.n0.Pods[0].UID: expected a text, got 7',
    ],
    ['a pod that cannot be read', { Pod: { spec: 1 } }, 'Pod.spec: expected an object, got 1'],
    ['no pod', { Pod: null }, 'Pod: expected an object'],
  ])('%s', (_, args, expected) => {
    expect(proposalOf(args)).toEqual(expected);
  });

  test.each([null, 7, [], 'x'])('%j is nothing of the kind', (raw) => {
    expect(decodePreemptionArgs(raw)).toEqual({ ok: false, field: '', message: 'expected an object' });
  });
});

function readText(text: string): unknown {
  const read = finish(readPreemptionArgs(Buffer.from(text)));
  return read.ok ? { pod: read.value.pod, proposal: read.value.proposal } : `${read.field}: ${read.message}`;
}

function parsed(text: string): unknown {
  const decoded = decodePreemptionArgs(JSON.parse(text));
  return decoded.ok
    ? { pod: decoded.value.pod, proposal: decoded.value.proposal }
    : `${decoded.field}: ${decoded.message}`;
}

/** As Go writes it: no spaces, and the fields in the order of the type. */
function asWritten(nodes: object, pod: object = Pod): string {
  return JSON.stringify({ Pod: pod, NodeNameToVictims: null, NodeNameToMetaVictims: nodes });
}

const TWO_NODES = {
  n0: { Pods: [{ UID: 'x' }, { UID: 'y' }], NumPDBViolations: 1 },
  n1: { Pods: [{ UID: 'z' }], NumPDBViolations: 0 },
};

describe('readPreemptionArgs', () => {
  const uid = fc.oneof(fc.uuid(), fc.string());
  const victims = fc.record({
    Pods: fc.array(fc.record({ UID: uid }), { maxLength: 4 }),
    NumPDBViolations: fc.nat({ max: 10 }),
  });
  const nodes = fc.dictionary(fc.oneof(fc.domain(), fc.string({ minLength: 1 })), victims, { maxKeys: 40 });
  const annotations = fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 });

  test('reads any text as JSON.parse reads it', () => {
    fc.assert(
      fc.property(nodes, annotations, fc.constantFrom(0, 1), (proposed, notes, indent) => {
        const pod = { ...Pod, metadata: { ...Pod.metadata, annotations: notes } };
        const text = JSON.stringify(JSON.parse(asWritten(proposed, pod)), undefined, indent);
        expect(readText(text)).toEqual(parsed(text));
      }),
    );
  });

  const marker = ',"NodeNameToVictims":null,"NodeNameToMetaVictims":{';
  test.each<[what: string, text: string]>([
    ['nodes', asWritten(TWO_NODES)],
    ['no nodes', asWritten({})],
    ['a name with an escape', asWritten({ 'n"0': TWO_NODES.n0 })],
    ['the fields of a node in another order', asWritten({ n0: { NumPDBViolations: 1, Pods: [{ UID: 'x' }] } })],
    ['a field more', asWritten({ n0: { ...TWO_NODES.n0, More: 1 } })],
    ['a field more at the end', JSON.stringify({ ...(JSON.parse(asWritten(TWO_NODES)) as object), More: {} })],
    ['spaces at the end', `${asWritten(TWO_NODES)}  `],
    ['a negative number', asWritten({ n0: { ...TWO_NODES.n0, NumPDBViolations: -1 } })],
    [
      'a pod that contains the same text',
      asWritten(TWO_NODES, { ...Pod, metadata: { ...Pod.metadata, labels: { marker } } }),
    ],
    ['a pod with such a field', asWritten(TWO_NODES, { ...Pod, more: JSON.parse(`{"a":1${marker}}}`) as object })],
    ['whole pods', JSON.stringify({ Pod, NodeNameToVictims: { n0: { Pods: [Pod] } }, NodeNameToMetaVictims: null })],
  ])('%s', (_, text) => {
    expect(readText(text)).toEqual(parsed(text));
  });

  test.each([
    ['half of it', asWritten(TWO_NODES).slice(0, -3)],
    ['something behind it', `${asWritten(TWO_NODES)}}`],
    ['a pod that ends early', asWritten(TWO_NODES).replace('"spec":{', '"spec":')],
    ['nothing', ''],
  ])('%s is no JSON', (_, text) => {
    expect(readText(text)).toMatch(/^: not valid JSON: /);
  });

  test('many nodes are read in many steps', () => {
    const many = Array.from({ length: 500 }, (__, node) => [`node-${node}`, TWO_NODES.n0]);
    const steps = readPreemptionArgs(Buffer.from(asWritten(Object.fromEntries(many) as object)));
    expect(Array.from(steps).length).toBeGreaterThan(20);
  });
});

describe('encodePreemptionResult', () => {
  const NONE = { texts: new Map() };

  test('is read as it was written', () => {
    const left = [{ node: 'n"0', uids: ['x', 'y'], budgetViolations: 1 }];
    expect(proposalOf(JSON.parse(encodePreemptionResult(left, NONE)) as object)).toEqual(left);
  });

  test('no nodes', () => {
    expect(encodePreemptionResult([], NONE)).toBe('{"NodeNameToMetaVictims":{}}');
  });

  test('proposed victims as they came, others by what they are', () => {
    const read = finish(readPreemptionArgs(Buffer.from(asWritten(TWO_NODES))));
    if (!read.ok) throw new Error(read.message);
    const left = [...read.value.proposal.slice(0, 1), { node: 'n1', uids: ['w'], budgetViolations: 2 }];
    expect(encodePreemptionResult(left, read.value)).toBe(
      '{"NodeNameToMetaVictims":{' +
        '"n0":{"Pods":[{"UID":"x"},{"UID":"y"}],"NumPDBViolations":1},' +
        '"n1":{"Pods":[{"UID":"w"}],"NumPDBViolations":2}}}',
    );
  });
});
