import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { checkQuotas } from '#shared/domain/quota/resource-quota/check-quotas.ts';
import type { QuotaRequest } from '#shared/domain/quota/resource-quota/charge-quota.ts';
import type { LimitedResource, ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';
import { pod } from '#test/shared/domain/ranking/builders.ts';
import { amounts, creation, limited, NOW, quota, resize, term } from '#test/shared/domain/quota/builders.ts';

const CPU = pod('web', { requests: { cpu: '1' }, spec: { priorityClassName: 'high' } });
const HIGH = term('PriorityClass', 'In', 'high');
const UNREADABLE = term('PriorityClass', 'In');
const UNREADABLE_WHY =
  "failed to parse and convert selector: values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty";

/** The message of a refusal with its code, or what is charged. */
function verdictOf(request: QuotaRequest, quotas: readonly ResourceQuota[], entries: readonly LimitedResource[] = []) {
  const verdict = checkQuotas(request, quotas, entries);
  if (verdict.kind === 'refused') return `${verdict.code} ${verdict.reason ?? '-'} ${verdict.message}`;
  const charged = Array.from(verdict.newUsed, ([name, used]) => [name, printAmounts(used)]);
  return { [verdict.because.code]: Object.fromEntries(charged) as unknown };
}

function exceededOf(verdict: ReturnType<typeof checkQuotas>) {
  if (verdict.kind === 'allowed') return [];
  return verdict.exceeded.map(({ resource, ...figures }) => [resource, printAmounts(new Map(Object.entries(figures)))]);
}

function asking(cpu: string): Pod {
  return pod('web', { requests: { cpu } });
}

describe('checkQuotas', () => {
  test('charges every quota that the pod falls under, and keeps what it does not touch', () => {
    const quotas = [
      quota('a', { cpu: '2', pods: '5' }, { used: { cpu: '0.5', pods: '1', 'stale.example.com/x': '2' } }),
      quota('b', { cpu: '1' }, { scopes: [term('PriorityClass', 'In', 'low')] }),
      quota('c', { 'requests.cpu': '4' }, { scopes: [HIGH] }),
    ];
    expect(verdictOf(creation(CPU), quotas)).toEqual({
      WithinQuota: { a: { cpu: '1500m', pods: '2', 'stale.example.com/x': '2' }, c: { 'requests.cpu': '1' } },
    });
  });

  test('reports which quota has no room, and for which resource', () => {
    const full = quota('q', { pods: '3', cpu: '1500m', memory: '1Gi' }, { used: { pods: '3', cpu: '1' } });
    const asks = pod('web', { requests: { cpu: '1', memory: '1Gi' } });
    const because = {
      code: 'QuotaExceeded',
      text: 'exceeded quota: q, requested: cpu=1,pods=1, used: cpu=1,pods=3, limited: cpu=1500m,pods=3',
      facts: { quota: 'q', requested: 'cpu=1,pods=1', used: 'cpu=1,pods=3', limited: 'cpu=1500m,pods=3' },
    };
    const verdict = checkQuotas(creation(asks), [full], []);
    const message = `pods "web" is forbidden: ${because.text}`;
    expect(verdict).toMatchObject({ kind: 'refused', code: 403, reason: 'Forbidden', message, because });
    expect(exceededOf(verdict)).toEqual([
      ['cpu', { asked: '1', used: '1', hard: '1500m' }],
      ['pods', { asked: '1', used: '3', hard: '3' }],
    ]);
  });

  test('names what it refuses as far as it has a name', () => {
    const none = quota('q', { pods: '0' });
    const message = (metadata: object) => verdictOf(creation(pod('', { metadata })), [none]);
    const exceeded = 'is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0';
    expect(message({ generateName: 'web-7d9f8b-' })).toBe(`403 Forbidden pods "web-7d9f8b-" ${exceeded}`);
    expect(message({})).toBe(`403 Forbidden pods "Unknown" ${exceeded}`);
  });

  test.each<[string, readonly ResourceQuota[], readonly LimitedResource[], string]>([
    [
      'a scope that cannot be read blocks every pod (K2)',
      [quota('q', {}, { scopes: [UNREADABLE] })],
      [],
      `500 - error matching scopes of quota q, err: error on matching scope {PriorityClass In []}: ${UNREADABLE_WHY}`,
    ],
    [
      'values are demanded before limits are compared (K5, K6)',
      [quota('full', { pods: '0' }), quota('q', { memory: '1Gi', 'limits.cpu': '1' })],
      [],
      '403 Forbidden pods "web" is forbidden: failed quota: q: must specify limits.cpu for: c; memory for: c',
    ],
    [
      'a limit without usage is not known yet',
      [{ ...quota('q', { pods: '9', cpu: '9', services: '9' }), used: amounts({ cpu: '1' }) }],
      [],
      '403 Forbidden pods "web" is forbidden: status unknown for quota: q, resources: cpu,pods',
    ],
    [
      'every name of a limited resource must be covered (K4)',
      [quota('q', { cpu: '9' })],
      [limited({ matchContains: ['cpu', 'pods'] })],
      '403 Forbidden pods "web" is forbidden: insufficient quota to consume: count/pods,pods,requests.cpu',
    ],
    [
      'a limited scope must be covered, and its refusal has no type (K1)',
      [quota('q', { cpu: '9' }, { scopes: [term('NotTerminating')] })],
      [limited({ resource: 'other', matchScopes: [HIGH, term('NotTerminating'), term('PriorityClass')] })],
      '500 - insufficient quota to match these scopes: [{PriorityClass In [high]} {PriorityClass Exists []}]',
    ],
    [
      'resources are covered before scopes',
      [],
      [limited({ matchContains: ['cpu'], matchScopes: [HIGH] })],
      '403 Forbidden pods "web" is forbidden: insufficient quota to consume: cpu,requests.cpu',
    ],
    [
      'the first quota without room is named',
      [quota('a', { pods: '1' }), quota('b', { pods: '0' }), quota('c', { cpu: '0' })],
      [],
      '403 Forbidden pods "web" is forbidden: exceeded quota: b, requested: pods=1, used: pods=0, limited: pods=0',
    ],
  ])('refuses: %s', (_, quotas, entries, message) => {
    expect(verdictOf(creation(CPU), quotas, entries)).toBe(message);
  });

  test.each<[string, readonly ResourceQuota[], readonly LimitedResource[], object]>([
    ['there is no quota and nothing limited (K11)', [], [], { NothingLimited: {} }],
    [
      'a limited scope that cannot be read switches the check off (K2)',
      [quota('q', { pods: '0' })],
      [limited({ matchScopes: [UNREADABLE] })],
      { LimitUnreadable: {} },
    ],
    [
      'a matching term covers, even of a quota that does not match or limits nothing (K3)',
      [quota('q', {}, { scopes: [term('PriorityClass', 'NotIn', 'low'), term('Terminating')] })],
      [limited({ matchScopes: [HIGH] })],
      { WithinQuota: {} },
    ],
    [
      'entries for other resources limit no names (K4)',
      [],
      [
        limited({ resource: 'services', matchContains: ['cpu'] }),
        limited({ apiGroup: 'apps', matchContains: ['cpu'] }),
        limited({ matchContains: ['memory'] }),
      ],
      { WithinQuota: {} },
    ],
    [
      'usage over a limit does not block what adds nothing to it (K7)',
      [quota('q', { pods: '5', 'requests.example.com/gpu': '1' }, { used: { 'requests.example.com/gpu': '2' } })],
      [],
      { WithinQuota: { q: { pods: '1', 'requests.example.com/gpu': '2' } } },
    ],
  ])('allows: %s', (_, quotas, entries, charged) => {
    expect(verdictOf(creation(CPU), quotas, entries)).toEqual(charged);
  });

  test('a negative request is refused, unless no quota applies', () => {
    const negative = asking('-1');
    const refused = '403 Forbidden pods "web" is forbidden: quota usage is negative for resource(s): cpu,requests.cpu';
    expect(verdictOf(creation(negative), [quota('q', { services: '1' })])).toBe(refused);
    expect(verdictOf(creation(negative), [])).toEqual({ NothingLimited: {} });
  });

  test('a single negative name is enough', () => {
    const negative = pod('web', { requests: { 'example.com/gpu': '-1' } });
    const refused = 'quota usage is negative for resource(s): requests.example.com/gpu';
    expect(verdictOf(creation(negative), [quota('q', { pods: '1' })])).toBe(
      `403 Forbidden pods "web" is forbidden: ${refused}`,
    );
  });

  test('a request of zero needs no cover and is no debt', () => {
    const entries = [limited({ matchContains: ['cpu'] })];
    expect(verdictOf(creation(asking('0')), [quota('q', { pods: '1' })], entries)).toEqual({
      WithinQuota: { q: { pods: '1' } },
    });
  });

  test('a dry run is checked and never charged', () => {
    const dryRun = { isDryRun: true };
    expect(verdictOf(creation(CPU, dryRun), [quota('q', { pods: '1' })])).toEqual({ WithinQuota: {} });
    expect(verdictOf(creation(CPU, dryRun), [quota('q', { pods: '0' })])).toMatch(/exceeded quota/);
  });
});

describe('an update', () => {
  const room = (scopes: ResourceQuota['scopes'] = []) => quota('q', { cpu: '10' }, { used: { cpu: '3' }, scopes });

  test.each<[string, Partial<QuotaRequest>]>([
    ['of the status', { operation: 'UPDATE', subresource: 'status', oldPod: CPU }],
    ['of labels', { operation: 'UPDATE', oldPod: CPU }],
    ['without an old pod', { operation: 'UPDATE' }],
    ['that binds', { subresource: 'binding' }],
    ['that deletes', { operation: 'DELETE' }],
    ['of resize by creation', { subresource: 'resize' }],
  ])('%s is not counted', (_, wish) => {
    expect(verdictOf(creation(CPU, wish), [quota('q', { pods: '0' })])).toEqual({ NotCounted: {} });
  });

  test('a resize is charged its growth', () => {
    expect(verdictOf(resize(asking('1'), asking('2500m')), [room()])).toEqual({ WithinQuota: { q: { cpu: '4500m' } } });
  });

  test('a resize that states a request for the first time is charged all of it', () => {
    expect(verdictOf(resize(pod('web'), asking('1')), [room()])).toEqual({ WithinQuota: { q: { cpu: '4' } } });
  });

  test('a resize without room for the growth is refused for the growth', () => {
    const verdict = verdictOf(resize(asking('1'), asking('9')), [room()]);
    expect(verdict).toMatch(/exceeded quota: q, requested: cpu=8, used: cpu=3, limited: cpu=10$/);
  });

  test('shrinking is free, needs no cover and lowers nothing', () => {
    const entries = [limited({ matchContains: ['cpu'] })];
    expect(verdictOf(resize(asking('2'), asking('1')), [room()], entries)).toEqual({ NothingAdded: {} });
    expect(verdictOf(resize(asking('2'), asking('1')), [], entries)).toEqual({ NothingAdded: {} });
  });

  test('an old pod that was never stored is not subtracted', () => {
    const request = { ...resize(asking('1'), asking('2')), oldPod: asking('1') };
    expect(verdictOf(request, [room()])).toEqual({ WithinQuota: { q: { cpu: '5' } } });
  });

  test('a pod that moves into a scope is charged whole', () => {
    const after = pod('web', { requests: { cpu: '1' }, spec: { activeDeadlineSeconds: 60 } });
    const request = { ...resize(asking('1'), after), subresource: '' };
    const quotas = [
      { ...room([term('Terminating')]), name: 'a' },
      { ...room([term('NotTerminating')]), name: 'b' },
      room(),
    ];
    expect(verdictOf(request, quotas)).toEqual({ WithinQuota: { a: { cpu: '4' } } });
  });

  test('a resize without an old pod is refused', () => {
    const request = creation(CPU, { operation: 'UPDATE', subresource: 'resize', now: NOW });
    const why = 'unable to get previous usage since prior version of object was not found';
    expect(verdictOf(request, [room()])).toBe(`403 Forbidden pods "web" is forbidden: ${why}`);
  });
});
