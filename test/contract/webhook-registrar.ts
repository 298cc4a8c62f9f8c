import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { configMap, type Harness, uniqueName } from './harness.ts';
import { type Reviewer, webhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';
import { eventually } from '#test/build/waiting.ts';

export const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const ALLOW: Reviewer = () => ({ allowed: true });

/** One webhook: where it is called, what it says (yes, unless said otherwise), and fields of its registration. */
export interface WebhookEntry {
  readonly path: string;
  readonly reviewer?: Reviewer;
  readonly [field: string]: unknown;
}

/** Webhooks of the test's own, called for ConfigMaps and pods of the harness's namespace. */
export interface WebhookRegistrar {
  readonly receiver: () => WebhookReceiver;
  /** Registers entries under one configuration, waits until the server calls them, and answers its path. */
  readonly register: (kind: 'mutating' | 'validating', ...entries: readonly WebhookEntry[]) => Promise<string>;
  /** What `register` would register. */
  readonly entry: (path: string, changes?: object) => object;
}

/**
 * Registers hooks of the present `describe`; each test begins without any, also for the server. Configurations are called
 * in the order of names.
 */
export function webhookRegistrar(api: Harness, prefix = 'contract'): WebhookRegistrar {
  const registered: { readonly name: string; readonly path: string }[] = [];
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await webhookReceiver();
  });
  afterEach(async () => {
    for (const { name, path } of registered.splice(0)) {
      await api.remove(path);
      await eventually(async () => expect(await isCalled(name)).toBe(false));
    }
    receiver.received.length = 0;
  });
  afterAll(() => receiver.close());

  async function register(kind: 'mutating' | 'validating', ...entries: readonly WebhookEntry[]): Promise<string> {
    const name = uniqueName(prefix);
    const collection = `${ADMISSION}/${kind}webhookconfigurations`;
    const path = `${collection}/${name}`;
    registered.push({ name, path });
    const probe = { ...entry(`/probe-${name}`), objectSelector: { matchLabels: { probe: name } } };
    receiver.on(`/probe-${name}`, ALLOW);
    const webhooks = entries.map(({ path, reviewer, ...changes }) => {
      receiver.on(path, reviewer ?? ALLOW);
      return entry(path, changes);
    });
    const made = await api.post(collection, { metadata: { name }, webhooks: [...webhooks, probe] });
    expect(made.status).toBe(201);
    await eventually(async () => expect(await isCalled(name)).toBe(true));
    receiver.received.length = 0;
    return path;
  }

  /** The server takes a moment to begin, and to end. */
  async function isCalled(name: string): Promise<boolean> {
    receiver.received.length = 0;
    await api.post(api.core('configmaps'), configMap('probe', { probe: name }), { query: { dryRun: 'All' } });
    return receiver.received.some(({ path }) => path === `/probe-${name}`);
  }

  function entry(path: string, changes: object = {}): object {
    return {
      name: `${path.slice(1)}.plimsoll.dev`,
      clientConfig: receiver.clientConfig(path),
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps', 'pods', 'pods/*'] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': api.namespace } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 2,
      ...changes,
    };
  }

  return { receiver: () => receiver, register, entry };
}
