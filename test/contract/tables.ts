import { expect, test } from 'vitest';
import { at, configMap, contractHarness, type ContractTarget, pod } from './harness.ts';

const ACCEPT = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** What `kubectl get` asks for. */
export function tableContract(target: () => ContractTarget): void {
  const api = contractHarness(target);

  test('a list as a table has columns, and rows that name their objects', async () => {
    await api.post(api.core('pods'), pod('shown', { nodeName: 'node-a' }));
    const { body, headers } = await api.get(api.core('pods'), { accept: ACCEPT });
    expect(headers['content-type']).toBe('application/json');
    expect(body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
    const columns = at(body, 'columnDefinitions') as readonly { name: string; priority: number }[];
    expect(columns.filter(({ priority }) => priority === 0).map(({ name }) => name)).toEqual([
      'Name',
      'Ready',
      'Status',
      'Restarts',
      'Age',
    ]);
    expect(at(body, 'rows.0.cells')).toEqual(expect.arrayContaining(['shown', '0/1', 'Pending']));
    expect(at(body, 'rows.0.object')).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'shown', namespace: api.namespace },
    });
  });

  test('one object, too, and with the whole object or none in each row', async () => {
    await api.post(api.core('configmaps'), configMap('row'));
    const path = api.core('configmaps/row');
    const whole = await api.get(path, { accept: ACCEPT, query: { includeObject: 'Object' } });
    expect(at(whole.body, 'rows.0.cells')).toEqual(expect.arrayContaining(['row', 1]));
    expect(at(whole.body, 'rows.0.object.data')).toEqual({ value: '1' });
    const none = await api.get(path, { accept: ACCEPT, query: { includeObject: 'None' } });
    expect(at(none.body, 'rows.0.object')).toBeNull();
  });

  test('priority classes show value and preemption policy', async () => {
    const { body } = await api.get('/apis/scheduling.k8s.io/v1/priorityclasses', { accept: ACCEPT });
    const columns = at(body, 'columnDefinitions') as readonly { name: string }[];
    expect(columns.map(({ name }) => name)).toEqual(['Name', 'Value', 'Global-Default', 'Age', 'PreemptionPolicy']);
  });

  test('a table asked for alone is still a table', async () => {
    const { body } = await api.get(api.core('configmaps'), { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    expect(at(body, 'kind')).toBe('Table');
  });
}
