import { readFileSync, globSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Lines about a request to us, the end of a process or of a part, or a stream with a memory of its own. */
const OF_THEIR_OWN = [
  'scheduler/extender/extender-listener.ts',
  'shared/http/health.ts',
  'shared/http/problem.ts',
  'shared/kube/lease/leader-lease.ts',
  'shared/kube/lease/run-controller.ts',
  'shared/kube/reflector/list-watch.ts',
  'shared/runtime/fault-log.ts',
  'shared/runtime/shutdown.ts',
  'webhook/quota/pod-informer.ts',
  'webhook/server/review-listener.ts',
];

test('what fails again and again is logged by the fault log', () => {
  const sources = globSync('{agent,webhook,scheduler,shared,dashboard}/**/*.ts');
  expect(sources.length).toBeGreaterThan(500);
  const direct = sources.filter((file) =>
    /log\.(warn|error)\(\s*\{[^}]*(\berr\b|outcome|\bkind:)/u.test(readFileSync(file, 'utf8')),
  );
  expect(direct.filter((file) => !OF_THEIR_OWN.includes(file))).toEqual([]);
});
