import { ANNOTATION_CLASS_RULE } from '#shared/kube/api-names.ts';
import { type Judging, requestOf } from './mutated-requests.ts';
import type { AskedOfPolicies } from './policy-evaluator.ts';

const MIB = 1_024 * 1_024;
const SIZE = 3 * MIB;
const RESOURCES = { requests: { cpu: '1m', memory: '1Mi' }, limits: { cpu: '1m', memory: '1Mi' } };

/** Requests of the size that the API server takes at most, each large in another way. */
export function hugeRequests(by: Judging): Readonly<Record<string, AskedOfPolicies>> {
  const bare = { containers: [{ name: 'main', image: 'i' }] };
  const containers = (count: number): object[] => many(count, (index) => ({ name: `c${index}`, image: 'i' }));
  const stated = many(10_000, (index) => ({ name: `c${index}`, image: 'i', resources: RESOURCES }));
  const manyGroups = (count: number): Judging => ({ ...by, groups: many(count, (index) => `other-${index}`) });
  const longName = 'x'.repeat(SIZE);
  return {
    'an annotation of 3 MiB': requestOf('Pod', bare, by, { annotations: { note: longName } }),
    'the record of a rule of 3 MiB': requestOf('Pod', bare, by, { annotations: { [ANNOTATION_CLASS_RULE]: longName } }),
    'an owner with a kind of 3 MiB': requestOf('Pod', bare, by, { ownerReferences: owners(1, longName) }),
    '100 owners with long kinds': requestOf('Pod', bare, by, { ownerReferences: owners(100, 'K'.repeat(30_000)) }),
    '101 owners': requestOf('Pod', bare, by, { ownerReferences: owners(101, 'Job') }),
    '20,000 owners': requestOf('Pod', bare, by, { ownerReferences: owners(20_000, 'Job') }),
    'fields of 101 managers': requestOf('Pod', bare, by, { managedFields: managers(101) }),
    'fields of 30,000 managers': requestOf('Pod', bare, by, { managedFields: managers(30_000) }),
    '100,000 labels': requestOf('Pod', bare, by, {
      labels: Object.fromEntries(many(100_000, (index) => [`l${index}`, 'x'])),
    }),
    '10,000 containers with resources': requestOf('Pod', { containers: stated }, by),
    '10,001 containers': requestOf('Pod', { containers: containers(10_001) }, by),
    '60,000 containers': requestOf('Pod', { containers: containers(60_000) }, by),
    'as many init containers': requestOf('Pod', { ...bare, initContainers: containers(60_000) }, by),
    'a name of a class of 3 MiB': requestOf('Deployment', { ...bare, priorityClassName: longName }, by),
    'a service account of 3 MiB': requestOf('Job', { ...bare, serviceAccountName: longName }, by),
    '10,000 groups': requestOf('Pod', bare, manyGroups(10_000)),
    '10,001 groups': requestOf('Pod', bare, manyGroups(10_001)),
    '100,000 groups': requestOf('CronJob', bare, manyGroups(100_000)),
    'a user name of 3 MiB': requestOf('Pod', bare, { ...by, user: longName }),
  };
}

function owners(count: number, kind: string): object[] {
  return many(count, (index) => ({
    apiVersion: 'batch/v1',
    kind,
    name: `o${index}`,
    uid: `u${index}`,
    controller: true,
  }));
}

function managers(count: number): object[] {
  return many(count, (index) => ({ manager: `m${index}`, fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': {} } }));
}

function many<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index));
}
