import jsonPatch from 'fast-json-patch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reviewListing, type Row, review } from '#cli/review/review.ts';
import { requesterOf } from '#cli/review/cluster-state.ts';
import { HELD, JUDGED, RULES, type Raw } from './agreement-cases.ts';
import { readAnswer, review as reviewBody, type Answer } from '#test/webhook/support/reviews.ts';
import { runWebhook, type RunningWebhook } from '#test/webhook/support/webhook-process.ts';
import { WORKLOAD_KINDS } from '#test/webhook/support/workloads.ts';

const ALICE = requesterOf('alice', ['developers']);
const WIDE = 'wide';

/** What both have to say; a message only where something is refused, for the API server passes no other on. */
interface Verdict {
  readonly allowed: boolean;
  readonly code: number;
  readonly message: string | undefined;
  readonly warnings: readonly string[];
  readonly patch: unknown;
}

const PLURALS: Readonly<Record<string, string>> = {
  Namespace: 'namespaces',
  PriorityClass: 'priorityclasses',
  ResourceQuota: 'resourcequotas',
  PriorityPolicy: 'prioritypolicies',
  PriorityQuota: 'priorityquotas',
};

function collectionOf({ apiVersion, kind }: Raw): string {
  return `${apiVersion === 'v1' ? '/api' : '/apis'}/${String(apiVersion)}/${PLURALS[String(kind)] ?? ''}`;
}

/** What `plimsoll review -o json` prints of some objects, reviewed one after the other. */
function reviewOffline(objects: readonly Raw[]): readonly Row[] {
  const manifests = [...RULES, ...objects].map((raw) => {
    return { apiVersion: String(raw['apiVersion']), kind: String(raw['kind']), raw, where: 'test' };
  });
  const { rows } = review({ manifests, inCluster: [], requester: ALICE, namespace: 'free', now: Date.now() });
  return JSON.parse(JSON.stringify(reviewListing(rows).rows)) as readonly Row[];
}

function verdictOf(row: Row | undefined): Verdict | undefined {
  if (row === undefined) return undefined;
  const { allowed, code, message, warnings, patch } = row;
  return { allowed, code, message: allowed ? undefined : message, warnings, patch };
}

describe('plimsoll review and the running webhook', () => {
  let webhook: RunningWebhook;
  beforeAll(async () => {
    webhook = await runWebhook((api) => {
      for (const rule of RULES) api.put(collectionOf(rule), rule);
    });
  });
  afterAll(() => webhook.stop());

  async function ask(path: string, object: Raw, plural: string): Promise<Answer> {
    const [version = '', group = ''] = String(object['apiVersion']).split('/').toReversed();
    const { name = '', namespace } = object.metadata;
    const userInfo = { username: ALICE.name, groups: ALICE.groups };
    const resource = { group, version, resource: plural };
    const request = { operation: 'CREATE', resource, name, namespace, userInfo, object, oldObject: null, dryRun: true };
    const { status, body } = await webhook.post(path, reviewBody(request));
    expect(status).toBe(200);
    return readAnswer(body);
  }

  /** The order of an API server: mutate, validate the result, and charge the quota where it is enforced. */
  async function judgePod(pod: Raw): Promise<Verdict> {
    const mutated = await ask('/mutate', pod, 'pods');
    if (!mutated.allowed) return asVerdict(mutated);
    const patch = (mutated.patch ?? []) as Parameters<typeof jsonPatch.applyPatch>[1];
    const stored = jsonPatch.applyPatch(structuredClone(pod), patch as never).newDocument;
    const validated = await ask('/validate', stored, 'pods');
    if (!validated.allowed) return asVerdict(validated);
    const charged = pod.metadata['namespace'] === WIDE ? await ask('/validate/quota', stored, 'pods') : validated;
    if (!charged.allowed) return asVerdict(charged);
    return { ...asVerdict(mutated), warnings: [...mutated.warnings, ...validated.warnings] };
  }

  async function judge(object: Raw): Promise<Verdict> {
    if (object['kind'] === 'Pod') return judgePod(object);
    const plural = WORKLOAD_KINDS.find(({ kind }) => kind === object['kind'])?.plural ?? '';
    return asVerdict(await ask('/validate/templates', object, plural));
  }

  test('agree on every case', async () => {
    const offline = Object.fromEntries(JUDGED.map((object) => [nameOf(object), verdictOf(reviewOffline([object])[0])]));
    const online: Record<string, Verdict> = {};
    for (const object of JUDGED) online[nameOf(object)] = await judge(object);
    expect(online).toEqual(offline);
  });

  test('are compared on enough cases of every kind', () => {
    const verdicts = JUDGED.map((object) => verdictOf(reviewOffline([object])[0]));
    const count = (wanted: (verdict: Verdict) => boolean) =>
      verdicts.filter((each) => each !== undefined && wanted(each)).length;
    expect(JUDGED.length).toBeGreaterThan(300);
    expect(new Set(JUDGED.map(({ kind }) => kind)).size).toBe(8);
    expect(count(({ allowed }) => !allowed)).toBeGreaterThan(50);
    expect(count(({ warnings }) => warnings.length > 0)).toBeGreaterThan(50);
    expect(count(({ patch }) => (patch as unknown[]).length > 0)).toBeGreaterThan(50);
  });

  test('name the same pods that hold a quota', async () => {
    const { rules, first, second } = HELD;
    for (const rule of rules('3')) webhook.api.put(collectionOf(rule), rule);
    webhook.api.put('/api/v1/pods', first);
    const online = await judge(second);
    expect(online.message).toMatch(/; at most 2 would fit; largest pods: `first` \(3\)$/);
    expect(online).toEqual(verdictOf(reviewOffline([...rules('0'), first, second])[1]));
  });
});

function nameOf({ kind, metadata }: Raw): string {
  return `${String(kind)}/${String(metadata['namespace'])}/${String(metadata['name'] ?? metadata['generateName'])}`;
}

function asVerdict({ allowed, code = 200, message, warnings, patch = [] }: Answer): Verdict {
  return { allowed, code, message, warnings, patch };
}
