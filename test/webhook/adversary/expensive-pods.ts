import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, uniqueName } from '#test/contract/harness.ts';
import { expectHonestServed, expectWebhookUnharmed } from './expect-unharmed.ts';
import { inRounds, withHonestUsers } from './honest-users.ts';
import { forbiddenPod, type Stage } from './stage.ts';

/** As in the cluster where 1,500 terms ended the process. */
const NAMESPACES = 1_212;
const MADE_AT_ONCE = 50;
const REQUESTS = 10;

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

/** Specs of expensive pods, of a given size. */
const DEAR: readonly {
  readonly what: string;
  readonly spec: (size: number) => object;
  /** The largest review that is handled. */
  readonly judged: number;
}[] = [
  {
    what: 'affinity terms that select every namespace',
    spec: (size) => affinity(size, () => ({ namespaceSelector: {} })),
    judged: 1_200,
  },
  {
    what: 'affinity terms that select namespaces by labels of their own',
    spec: (size) => affinity(size, (index) => ({ namespaceSelector: { matchLabels: { [`l${index}`]: 'x' } } })),
    judged: 1_000,
  },
  {
    what: 'containers that ask for a resource each',
    spec: (size) => ({ containers: repeat(size, (index) => container(index, { [`example.com/r${index}`]: '1' })) }),
    judged: 400,
  },
  {
    what: 'containers whose sums have thousands of digits',
    spec: (size) => ({
      containers: repeat(size, (index) => container(index, { cpu: index % 2 === 0 ? '1n' : '1e9980' })),
    }),
    judged: 400,
  },
  {
    what: 'resources that one container asks for',
    spec: (size) => ({ containers: [container(0, Object.fromEntries(repeat(size, ownResource)))] }),
    judged: 1_500,
  },
];
/** Multiple of what is handled: more than is read. */
const TOO_MUCH = 10;
const REFUSED = ['403 Forbidden', '413 RequestEntityTooLarge', '429 TooManyRequests', '504 Timeout'];

function ownResource(index: number): [string, string] {
  return [`example.com/r${index}`, '1'];
}

function affinity(size: number, more: (index: number) => object): object {
  return { affinity: { podAffinity: { [REQUIRED]: repeat(size, (index) => term(more(index))) } } };
}

function repeat<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function term(more: object): object {
  return { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'x' } }, ...more };
}

function container(index: number, requests: object): object {
  const isExtended = Object.keys(requests).some((name) => name.includes('/'));
  const resources = { requests, ...(isExtended && { limits: requests }) };
  return { name: `c${index}`, image: 'registry.test/idle:1', resources };
}

/** The tenant sends dry-run pods that cost the webhook much more than the tenant, in a cluster of many namespaces. */
export function expensivePods(stage: Stage): void {
  describe('a tenant that makes its pods expensive to evaluate', () => {
    const prefix = uniqueName('many');

    beforeAll(() => inParallel((name) => stage.honest.post('/api/v1/namespaces', { metadata: { name } })), 120_000);
    afterAll(() => inParallel((name) => stage.honest.remove(`/api/v1/namespaces/${name}`)), 120_000);

    async function inParallel(act: (name: string) => Promise<unknown>): Promise<void> {
      const names = repeat(NAMESPACES, (index) => `${prefix}-${index}`);
      const worker = async (): Promise<void> => {
        for (let name = names.pop(); name !== undefined; name = names.pop()) await act(name);
      };
      await Promise.all(repeat(MADE_AT_ONCE, worker));
    }

    async function ask(spec: object): Promise<ReadonlySet<string>> {
      const path = `${stage.tenant.core('pods')}?dryRun=All`;
      const one = () => stage.attacker()('POST', path, forbiddenPod(stage, spec));
      const { honest, attack } = await withHonestUsers(stage, (asked) =>
        inRounds(asked, () => Promise.all(repeat(REQUESTS, one))),
      );
      expectHonestServed(honest);
      expectWebhookUnharmed(stage);
      return new Set(attack.map(({ status, body }) => `${status} ${String(at(body, 'reason'))}`));
    }

    test.each(DEAR)(
      'with $judged $what gets no forbidden class, and blocks no other user',
      async ({ spec, judged }) => {
        const answers = await ask(spec(judged));
        expect(answers).toContain('403 Forbidden');
        expect(REFUSED).toEqual(expect.arrayContaining([...answers]));
      },
    );

    test('gets none with more than the webhook reads', async () => {
      for (const { spec, judged } of DEAR.slice(0, 2)) {
        const answers = await ask(spec(judged * TOO_MUCH));
        expect(REFUSED).toEqual(expect.arrayContaining([...answers]));
      }
    });
  });
}
