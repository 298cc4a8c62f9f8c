import { describe, expect, test } from 'vitest';
import { applyObject } from '#sandbox/api-server/ownership/apply.ts';
import {
  managedFieldsAfterUpdate,
  managedFieldsOfNew,
  type Writer,
} from '#sandbox/api-server/ownership/managed-fields.ts';
import { loadDefinitions } from '#sandbox/api-server/schema/definitions.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

const schema = loadDefinitions().schema('io.k8s.api.apps.v1.Deployment');

function writer(manager: string, operation: Writer['operation'] = 'Apply'): Writer {
  return { manager, operation, apiVersion: 'apps/v1', subresource: '', time: '2026-01-01T00:00:00Z' };
}

function deployment(spec: object, labels?: Record<string, string>): KubeObject {
  const metadata = { name: 'web', ...(labels === undefined ? {} : { labels }) };
  return { kind: 'Deployment', apiVersion: 'apps/v1', metadata, spec } as KubeObject;
}

const NOTHING = { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'web' } };
const apply = (live: KubeObject, wanted: KubeObject, manager = 'one', force = false): KubeObject =>
  applyObject({ schema, live, wanted, writer: writer(manager), force });
const specOf = (object: KubeObject): unknown => (object as KubeObject & { spec: unknown }).spec;

describe('applyObject', () => {
  test('owns what it sets', () => {
    const { metadata } = apply(NOTHING, deployment({ replicas: 2 }, { a: 'b' }));
    expect(metadata.managedFields).toEqual([
      {
        manager: 'one',
        operation: 'Apply',
        apiVersion: 'apps/v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:metadata': { 'f:labels': { 'f:a': {} } }, 'f:spec': { 'f:replicas': {} } },
      },
    ]);
  });

  test('takes away what it no longer wants, unless another manager owns it, too', () => {
    const first = apply(NOTHING, deployment({ replicas: 2, paused: true }));
    const shared = apply(first, deployment({ replicas: 2 }), 'two');
    expect(specOf(apply(shared, deployment({ minReadySeconds: 1 })))).toEqual({ replicas: 2, minReadySeconds: 1 });
  });

  test('keeps what others set in the same item', () => {
    const container = (fields: object): object => ({ template: { spec: { containers: [{ name: 'c', ...fields }] } } });
    const first = apply(NOTHING, deployment(container({ image: 'x' })));
    const second = apply(first, deployment(container({ tty: true })), 'two');
    expect(specOf(apply(second, deployment({})))).toEqual(container({ tty: true }));
  });

  test('refuses to change what another owns, naming manager and field', () => {
    const live = apply(NOTHING, deployment({ replicas: 2 }));
    expect(() => apply(live, deployment({ replicas: 3 }), 'two')).toThrow(
      'Apply failed with 1 conflict: conflict with "one": .spec.replicas',
    );
  });

  test('names the time and version of an update that it conflicts with', () => {
    const live = deployment({ replicas: 2, paused: true });
    live.metadata.managedFields = managedFieldsOfNew(schema, live, writer('kubectl', 'Update'));
    expect(() => apply(live, deployment({ replicas: 3, paused: false }), 'two')).toThrow(
      'Apply failed with 2 conflicts: conflicts with "kubectl" using apps/v1 at 2026-01-01T00:00:00Z:\n- .spec.paused\n- .spec.replicas',
    );
  });

  test('takes by force', () => {
    const taken = apply(apply(NOTHING, deployment({ replicas: 2 })), deployment({ replicas: 3 }), 'two', true);
    expect(specOf(taken)).toEqual({ replicas: 3 });
    expect(taken.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['two']);
  });

  test('the same value from two appliers is shared, not fought over', () => {
    const both = apply(apply(NOTHING, deployment({ replicas: 2 })), deployment({ replicas: 2 }), 'two');
    expect(both.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['one', 'two']);
  });
});

describe('managedFieldsAfterUpdate', () => {
  test('what changed moves to the writer, the rest stays', () => {
    const live = apply(NOTHING, deployment({ replicas: 2, paused: true }));
    const next = { ...deployment({ replicas: 5, paused: true }) };
    const entries = managedFieldsAfterUpdate(schema, live, next, writer('scaler', 'Update'));
    expect(entries.map(({ manager, fieldsV1 }) => [manager, fieldsV1])).toEqual([
      ['one', { 'f:spec': { 'f:paused': {} } }],
      ['scaler', { 'f:spec': { 'f:replicas': {} } }],
    ]);
  });

  test('nothing changed, nothing written', () => {
    const live = apply(NOTHING, deployment({ replicas: 2 }));
    const entries = managedFieldsAfterUpdate(schema, live, structuredClone(live), writer('idle', 'Update'));
    expect(entries).toBe(live.metadata.managedFields);
  });
});
