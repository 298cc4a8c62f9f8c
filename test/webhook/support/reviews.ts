import { randomUUID } from 'node:crypto';

export type Raw = Record<string, unknown>;

/** The body of an AdmissionReview that creates a pod. */
export function createPodReview(pod: Raw, request: Raw = {}): string {
  return review({
    operation: 'CREATE',
    resource: { group: '', version: 'v1', resource: 'pods' },
    kind: { group: '', version: 'v1', kind: 'Pod' },
    name: (pod['metadata'] as Raw | undefined)?.['name'] ?? '',
    namespace: 'team-a',
    object: pod,
    oldObject: null,
    ...request,
  });
}

export function review(request: Raw): string {
  const userInfo = { username: 'alice', groups: ['system:authenticated'] };
  return JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: { uid: randomUUID(), userInfo, dryRun: false, ...request },
  });
}

/** A pod as the API server hands it to a mutating webhook, the Priority plugin having filled in 0. */
export function pod(spec: Raw = {}, metadata: Raw = {}): Raw {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'team-a', ...metadata },
    spec: {
      containers: [{ name: 'main', image: 'i', resources: { requests: { cpu: '100m', memory: '1Gi' } } }],
      ...spec,
    },
  };
}

export interface Answer {
  readonly allowed: boolean;
  readonly code: number | undefined;
  readonly message: string | undefined;
  readonly warnings: readonly string[];
  readonly patch: unknown;
}

/** What an answer says, its patch decoded. */
export function readAnswer(body: string): Answer {
  const { response } = JSON.parse(body) as { response: Raw };
  const status = response['status'] as Raw | undefined;
  const patch = response['patch'];
  return {
    allowed: response['allowed'] === true,
    code: status?.['code'] as number | undefined,
    message: status?.['message'] as string | undefined,
    warnings: (response['warnings'] ?? []) as string[],
    patch: typeof patch === 'string' ? (JSON.parse(Buffer.from(patch, 'base64').toString()) as unknown) : undefined,
  };
}
