import { describe, expect, test } from 'vitest';
import { invalidText } from '#sandbox/api-server/errors/field-error.ts';
import { setPodDefaults } from '#sandbox/api-server/kinds/workload-defaults.ts';
import { validatePod } from '#sandbox/api-server/kinds/validation/validate-pod.ts';
import { validateQuota, validateQuotaUpdate } from '#sandbox/api-server/kinds/validation/validate-quota.ts';
import { validateWorkload } from '#sandbox/api-server/kinds/validation/validate-workload.ts';
import { validateWebhookConfiguration } from '#sandbox/api-server/kinds/validation/validate-webhook-configuration.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

function object(kind: string, fields: object): KubeObject {
  return { kind, apiVersion: 'v1', metadata: { name: 'x' }, ...fields };
}

describe('validatePod', () => {
  const container = { name: 'c', image: 'i' };
  test.each<[string, object, readonly string[]]>([
    ['a good one', { containers: [container] }, []],
    ['none at all', {}, ['spec.containers: Required value']],
    ['no image', { containers: [{ name: 'c' }] }, ['spec.containers[0].image: Required value']],
    ['the same name twice', { containers: [container, container] }, ['spec.containers[1].name: Duplicate value: "c"']],
    [
      'a negative request',
      { containers: [{ ...container, resources: { requests: { cpu: '-1' } } }] },
      ['spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
    ],
    [
      'a request above its limit',
      { containers: [{ ...container, resources: { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } } }] },
      [
        'spec.containers[0].resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi',
      ],
    ],
    [
      'a port out of range',
      { containers: [{ ...container, ports: [{ containerPort: 70_000 }] }] },
      ['spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive'],
    ],
    [
      'a mount of nothing',
      { containers: [{ ...container, volumeMounts: [{ name: 'v', mountPath: '/v' }] }] },
      ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
    ],
    [
      'an unknown restart policy',
      { containers: [container], restartPolicy: 'Sometimes' },
      ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
    ],
    [
      'a node together with a gate',
      { containers: [container], nodeName: 'n', schedulingGates: [{ name: 'a.b/c' }] },
      ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
    ],
  ])('%s', (_, spec, texts) => {
    expect(validatePod(object('Pod', { spec })).map(invalidText)).toEqual(texts);
  });
});

describe('setPodDefaults', () => {
  test.each([
    ['i', 'Always'],
    ['i:latest', 'Always'],
    ['i:1', 'IfNotPresent'],
    ['registry.test:5000/i', 'Always'],
    ['i@sha256:0', 'IfNotPresent'],
  ])('an image %s is pulled %s', (image, imagePullPolicy) => {
    const pod = object('Pod', { spec: { containers: [{ name: 'c', image }] } });
    setPodDefaults(pod);
    expect(pod).toMatchObject({
      spec: { containers: [{ imagePullPolicy }], restartPolicy: 'Always', terminationGracePeriodSeconds: 30 },
    });
  });

  test('requests follow limits where they are missing', () => {
    const pod = object('Pod', {
      spec: {
        containers: [{ name: 'c', resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } } }],
      },
    });
    setPodDefaults(pod);
    expect(pod).toMatchObject({ spec: { containers: [{ resources: { requests: { cpu: '500m', memory: '1Gi' } } }] } });
  });
});

describe('validateQuota', () => {
  const scoped = (scopeName: string, operator: string, values?: string[]): object => ({
    scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values === undefined ? {} : { values }) }] },
  });
  test.each<[string, object, readonly string[]]>([
    ['priority classes', { hard: { pods: '1', 'requests.cpu': '1' }, ...scoped('PriorityClass', 'In', ['gold']) }, []],
    [
      'an unknown resource',
      { hard: { gold: '1' } },
      ['spec.hard[gold]: Invalid value: "gold": must be a standard resource for quota'],
    ],
    ['half a pod', { hard: { pods: '500m' } }, ['spec.hard[pods]: Invalid value: "500m": must be an integer']],
    [
      'a class list without classes',
      { hard: { pods: '1' }, ...scoped('PriorityClass', 'In') },
      [
        "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      ],
    ],
    [
      'contradictory scopes',
      { hard: { pods: '1' }, scopes: ['BestEffort', 'NotBestEffort'] },
      ['spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'],
    ],
    [
      'memory of pods that ask for none',
      { hard: { memory: '1' }, scopes: ['BestEffort'] },
      ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
    ],
  ])('%s', (_, spec, texts) => {
    expect(validateQuota(object('ResourceQuota', { spec })).map(invalidText)).toEqual(texts);
  });

  test('scopes stay, the selector may change', () => {
    const before = object('ResourceQuota', { spec: { hard: { pods: '1' } } });
    const scopes = object('ResourceQuota', { spec: { hard: { pods: '1' }, scopes: ['BestEffort'] } });
    const selector = object('ResourceQuota', { spec: { hard: { pods: '1' }, ...scoped('PriorityClass', 'Exists') } });
    expect(validateQuotaUpdate(scopes, before).map(invalidText)).toEqual([
      'spec.scopes: Invalid value: ["BestEffort"]: field is immutable',
    ]);
    expect(validateQuotaUpdate(selector, before)).toEqual([]);
  });
});

describe('validateWorkload', () => {
  test('a selector finds the pods of the template', () => {
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const texts = (selector: object | undefined): string[] =>
      validateWorkload(object('Deployment', { spec: { template, selector } })).map(invalidText);
    expect(texts({ matchLabels: { app: 'a' } })).toEqual([]);
    expect(texts({ matchLabels: { app: 'b' } })).toEqual([
      'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
    ]);
    expect(texts(undefined)).toEqual(['spec.selector: Required value']);
  });
});

describe('validateWebhookConfiguration', () => {
  const good = {
    name: 'a.b.c',
    clientConfig: { url: 'https://x' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  test.each<[string, object, readonly string[]]>([
    ['a good one', {}, []],
    [
      'a short name',
      { name: 'a.b' },
      ['webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots'],
    ],
    [
      'plain http',
      { clientConfig: { url: 'http://x' } },
      [
        'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
      ],
    ],
    [
      'no address',
      { clientConfig: {} },
      ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
    ],
    [
      'a long timeout',
      { timeoutSeconds: 31 },
      ['webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
    ],
  ])('%s', (_, changes, texts) => {
    expect(
      validateWebhookConfiguration(
        object('ValidatingWebhookConfiguration', { webhooks: [{ ...good, ...changes }] }),
      ).map(invalidText),
    ).toEqual(texts);
  });
});
