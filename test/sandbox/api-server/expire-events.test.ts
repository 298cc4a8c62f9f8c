import { expect, test } from 'vitest';
import { removeOldEvents } from '#sandbox/api-server/create-server-state.ts';
import { Store } from '#sandbox/api-server/storage/store.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

test('an event goes when it has not happened for long, however old it is', () => {
  const store = new Store(10);
  const event = (name: string, fields: object): KubeObject => ({
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name, namespace: 'n', creationTimestamp: '2026-01-01T10:00:00Z' },
    ...fields,
  });
  store.put('events', event('old', {}));
  store.put('events', event('again', { lastTimestamp: '2026-01-01T11:30:00Z' }));
  store.put('events', event('series', { series: { count: 2, lastObservedTime: '2026-01-01T11:59:00.000000Z' } }));
  removeOldEvents(store, Date.parse('2026-01-01T11:00:00Z'));
  expect(
    store
      .collection('events')
      .values()
      .map(({ key }) => key),
  ).toEqual(['n/again', 'n/series']);
});
