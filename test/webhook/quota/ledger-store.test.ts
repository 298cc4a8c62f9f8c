import { describe, expect, test } from 'vitest';
import type { LedgerPart } from '#shared/domain/quota/replica/event.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { failureOf, type Outcome } from '#shared/kube/client/outcome.ts';
import { createLedgerStore, type LedgerStore } from '#webhook/quota/ledger-store.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { decode, reservation } from './ledger-rig.ts';

const QUOTA = {
  metadata: { name: 'q', uid: 'u', generation: 1, resourceVersion: '1' },
  spec: { priorityClassNames: ['high'], hard: { memory: '4Gi' } },
  status: { observedGeneration: 1, recounts: 3, used: { memory: '0' } },
};

const SLICE = { holder: 'replica', amounts: reservation('x').amounts, renewals: 1, recallRequested: false };

type Fields = Readonly<Record<string, unknown>>;

/** What an API server stores of a body, and so answers. */
type Keeps = (status: Fields) => object;

function without(object: Fields, key: string): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

function storing(keeps: Keeps): { readonly store: LedgerStore; readonly lost: (readonly LedgerPart[])[] } {
  const lost: (readonly LedgerPart[])[] = [];
  const { client } = scriptedClient(({ body }) => {
    const sent = body as KubeObject & { status: Fields };
    const metadata = { ...sent.metadata, resourceVersion: '2' };
    return { kind: 'ok', object: { ...sent, metadata, status: keeps(sent.status) }, warnings: [] };
  });
  return { store: createLedgerStore(client, 'q', (parts) => lost.push(parts)), lost };
}

function write(store: LedgerStore) {
  const base = decode(QUOTA);
  const state = {
    ...base.state,
    reservations: new Map([['a', { ...reservation('a'), generation: 7 }]]),
    slices: new Map([['replica', SLICE]]),
  };
  return store.write({ base, state, counted: undefined });
}

describe('createLedgerStore', () => {
  test('reports a write that was stored as sent', async () => {
    const { store, lost } = storing((status) => status);
    expect(await write(store)).toMatchObject({
      kind: 'written',
      version: { revision: '2', raw: { metadata: { resourceVersion: '2' } } },
    });
    expect(lost).toEqual([]);
  });

  test.each<[string, Keeps, readonly LedgerPart[]]>([
    ['slices', (status) => without(status, 'slices'), ['slices']],
    ['recounts', (status) => without(status, 'recounts'), ['recounts']],
    ['some amounts', (status) => ({ ...status, used: {} }), ['used']],
    ['reservations', (status) => ({ ...status, reservations: [] }), ['reservations']],
  ])('reports that %s were not stored, and what is', async (_, keeps, parts) => {
    const { store, lost } = storing(keeps);
    expect(await write(store)).toMatchObject({ kind: 'pruned', lost: parts });
    expect(lost).toEqual([parts]);
  });

  test('tolerates pruned fields that correctness does not depend on', async () => {
    const { store } = storing((status) => ({
      ...without(status, 'ledgerVersion'),
      reservations: (status['reservations'] as Fields[]).map((each) => without(each, 'generation')),
    }));
    expect(await write(store)).toMatchObject({ kind: 'written' });
  });

  test.each<[number, string]>([
    [422, 'refused'],
    [413, 'refused'],
    [400, 'refused'],
    [409, 'conflict'],
    [404, 'gone'],
    [403, 'trouble'],
    [500, 'trouble'],
  ])('takes an answer of %i for: %s', async (status, kind) => {
    const { client } = scriptedClient((): Outcome<unknown> => failureOf(status, { message: 'no' }));
    expect(await write(createLedgerStore(client, 'q', () => undefined))).toMatchObject({ kind });
  });

  test('leaves a ledger of a later version of the webhook alone', async () => {
    const object = { ...QUOTA, status: { ...QUOTA.status, ledgerVersion: 2 } };
    const { client } = scriptedClient(() => ({ kind: 'ok', object, warnings: [] }));
    expect(await createLedgerStore(client, 'q', () => undefined).read()).toEqual({
      kind: 'trouble',
      message: 'status.ledgerVersion: a later version of the webhook keeps this ledger as version 2, this one knows 1',
    });
  });

  test('writes its format version into each ledger', async () => {
    const { client, requests } = scriptedClient(({ body }) => ({ kind: 'ok', object: body, warnings: [] }));
    await write(createLedgerStore(client, 'q', () => undefined));
    expect(requests[0]?.body).toMatchObject({ status: { ledgerVersion: 1 } });
  });
});
