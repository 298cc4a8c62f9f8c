import { afterEach, describe, expect, test } from 'vitest';
import { answerHealth, type HealthSources, healthListener } from '#shared/http/health.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';

const well = { name: 'caches', problem: () => undefined };
const missing = { name: 'certificate', problem: () => 'not registered yet' };
const broken = {
  name: 'ledger',
  problem: () => {
    throw new Error('lost');
  },
};

function sources(checks: HealthSources['checks']): HealthSources {
  return { checks, metrics: createMetrics('test'), configuration: { token: 's3cret', tokenFile: '/token' } };
}

describe('answerHealth', () => {
  const cases: Record<
    string,
    { checks: HealthSources['checks']; path: string; query?: string; status: number; body: string }
  > = {
    'alive whatever is missing': { checks: [missing], path: '/livez', status: 200, body: 'ok' },
    'ready when nothing is missing': { checks: [well], path: '/readyz', status: 200, body: 'ok' },
    'ready, in detail': {
      checks: [well],
      path: '/readyz',
      query: 'verbose',
      status: 200,
      body: '[+]caches ok\nreadyz check passed\n',
    },
    'not ready, with what is missing': {
      checks: [well, missing, broken],
      path: '/readyz',
      status: 503,
      body: '[+]caches ok\n[-]certificate failed: not registered yet\n[-]ledger failed: lost\nreadyz check failed\n',
    },
    'the configuration without its secrets': {
      checks: [],
      path: '/configz',
      status: 200,
      body: '{"token":"[redacted]","tokenFile":"/token"}',
    },
    'an unknown path': {
      checks: [],
      path: '/debug',
      status: 404,
      body: '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Path not found","reason":"NotFound","code":404}',
    },
  };
  test.each(Object.entries(cases))('answers: %s', async (_, { checks, path, query, status, body }) => {
    const answer = await answerHealth(sources(checks), path, new URLSearchParams(query));
    expect({ status: answer.status, body: answer.body }).toEqual({ status, body });
  });
});

describe('metrics', () => {
  test('say of each check whether it passes, at the moment they are read', async () => {
    let problem: string | undefined = 'not yet read: pods';
    const asked = sources([well, { name: 'pods', problem: () => problem }, broken]);
    const read = async () => {
      const { body } = await answerHealth(asked, '/metrics', new URLSearchParams());
      return body.match(/^plimsoll_check_passed.*$/gm);
    };
    const series = (pods: number) => [
      'plimsoll_check_passed{check="caches"} 1',
      `plimsoll_check_passed{check="pods"} ${pods}`,
      'plimsoll_check_passed{check="ledger"} 0',
    ];
    expect(await read()).toEqual(series(0));
    problem = undefined;
    expect(await read()).toEqual(series(1));
  });
});

describe('healthListener', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  test('serves metrics, refuses writing and names no framework', async () => {
    const log = createLog({ component: 'test', level: 'silent', format: 'json' });
    server = await serve({ handler: healthListener(sources([missing]), log), host: '127.0.0.1', port: 0 });
    const metrics = await fetch(`${server.url}/metrics`);
    const post = await fetch(`${server.url}/livez`, { method: 'POST' });
    const ready = await fetch(`${server.url}/readyz?verbose=1`);
    expect([metrics.status, post.status, ready.status]).toEqual([200, 405, 503]);
    expect(await metrics.text()).toContain('plimsoll_build_info');
    expect(metrics.headers.get('x-powered-by')).toBeNull();
  });
});
