import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createAdmit } from '#dashboard/access/admit.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createLog } from '#shared/runtime/log.ts';
import { at } from '#test/contract/harness.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });
const JANE = { username: 'jane', uid: 'u', groups: ['dev'], extra: { scope: ['a'] } };

/** An API server that knows one token, and lets users do what `allows` says. */
function apiServer(allows: (attributes: unknown) => boolean) {
  const asked: unknown[] = [];
  const answer = (request: KubeRequest): object => {
    const spec = at(request.body, 'spec');
    asked.push(spec);
    if (request.path.endsWith('tokenreviews'))
      return at(spec, 'token') === 'good' ? { authenticated: true, user: JANE } : { error: 'no' };
    return { allowed: allows(at(spec, 'resourceAttributes')) };
  };
  const request = (sent: KubeRequest): Promise<Outcome<unknown>> =>
    Promise.resolve({ kind: 'ok', object: { status: answer(sent) }, warnings: [] });
  return { asked, client: { request, stream: () => Promise.reject(new Error('not used')), close: () => undefined } };
}

function requestWith(headers: IncomingHttpHeaders): IncomingMessage {
  const headersDistinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]));
  return { headers, headersDistinct } as unknown as IncomingMessage;
}

function ask(client: KubeClient, headers: IncomingHttpHeaders, trustsProxy = false) {
  return createAdmit({ client, trustsProxy, clock: manualClock(), log })(requestWith(headers));
}

const GOOD = { authorization: 'Bearer good' };

describe('admit', () => {
  test('without credentials it is 401, with what to do; nothing is asked', async () => {
    const { asked, client } = apiServer(() => true);
    for (const headers of [{}, { authorization: 'Basic x' }, { 'x-remote-user': 'admin' }]) {
      const refused = await ask(client, headers);
      expect(refused).toMatchObject({
        status: 401,
        message: expect.stringContaining('kubectl create token') as unknown,
      });
    }
    expect(asked).toEqual([]);
  });

  test('a token that the API server does not accept is 401', async () => {
    expect(await ask(apiServer(() => true).client, { authorization: 'Bearer bad' })).toMatchObject({ status: 401 });
  });

  test('a user who may not get nodepressures is 403, with the role to bind', async () => {
    const refused = await ask(apiServer(() => false).client, GOOD);
    expect(refused).toMatchObject({ status: 403, message: expect.stringContaining('plimsoll-viewer') as unknown });
  });

  test('what is asked names the user whole, and the right', async () => {
    const { asked, client } = apiServer(() => true);
    expect(await ask(client, GOOD)).toMatchObject({ kind: 'admitted', viewer: { user: 'jane', seesAll: true } });
    const resourceAttributes = { group: 'plimsoll.dev', resource: 'nodepressures', verb: 'get', namespace: '' };
    expect(asked[1]).toEqual({ user: 'jane', uid: 'u', groups: ['dev'], extra: { scope: ['a'] }, resourceAttributes });
  });

  test('a tenant sees the pods of namespaces that may be listed, once they were asked about', async () => {
    const { client } = apiServer((wanted) => at(wanted, 'resource') !== 'pods' || at(wanted, 'namespace') === 'mine');
    const admission = await ask(client, GOOD);
    const viewer = admission.kind === 'admitted' ? admission.viewer : undefined;
    expect(viewer?.seesAll).toBe(false);
    expect(viewer?.maySee('mine')).toBe(false);
    await viewer?.learn(['mine', 'theirs', '']);
    expect(['mine', 'theirs', ''].map((each) => viewer?.maySee(each))).toEqual([true, false, false]);
  });

  test('what a tenant may see is asked once for all their requests of a minute', async () => {
    const { asked, client } = apiServer((wanted) => at(wanted, 'resource') !== 'pods');
    const clock = manualClock();
    const admit = createAdmit({ client, trustsProxy: false, clock, log });
    const namespaces = Array.from({ length: 1_000 }, (_, index) => `team-${index}`);
    const reviewsOfOneRequest = async () => {
      const before = asked.length;
      const admission = await admit(requestWith(GOOD));
      if (admission.kind === 'admitted') await admission.viewer.learn(namespaces);
      return asked.length - before;
    };
    expect(await reviewsOfOneRequest()).toBe(1_003);
    expect(await reviewsOfOneRequest()).toBe(3);
    await clock.advance(60_000);
    expect(await reviewsOfOneRequest()).toBe(1_003);
  });

  test('of all callers together at most 16 reviews are under way', async () => {
    const { client } = apiServer((wanted) => at(wanted, 'resource') !== 'pods');
    let [underWay, most] = [0, 0];
    const request = async (sent: KubeRequest): Promise<Outcome<unknown>> => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      return client.request(sent);
    };
    const admit = createAdmit({ client: { ...client, request }, trustsProxy: true, clock: manualClock(), log });
    const admissions = await Promise.all(
      Array.from({ length: 20 }, (_, index) => admit(requestWith({ 'x-remote-user': `user-${index}` }))),
    );
    const viewers = admissions.flatMap((each) => (each.kind === 'admitted' ? each.viewer : []));
    await Promise.all(viewers.map((viewer) => viewer.learn(['a', 'b', 'c', 'd'])));
    expect([viewers.length, most]).toEqual([20, 16]);
  });

  test('the user that a front proxy names counts only where the proxy is known', async () => {
    const headers = { 'x-remote-user': 'kim', 'x-remote-group': ['ops'], 'x-remote-extra-scope': 'b' };
    const { asked, client } = apiServer(() => true);
    expect(await ask(client, headers)).toMatchObject({ status: 401 });
    expect(await ask(client, headers, true)).toMatchObject({ kind: 'admitted' });
    expect(asked[0]).toMatchObject({ user: 'kim', groups: ['ops'], extra: { scope: ['b'] } });
  });

  test('no viewer is admitted while the API server does not answer', async () => {
    const request = () => Promise.resolve({ kind: 'timeout', message: 'late' } as const);
    const client = { ...apiServer(() => true).client, request };
    expect(await ask(client, GOOD)).toMatchObject({ kind: 'refused', status: 503 });
  });
});
