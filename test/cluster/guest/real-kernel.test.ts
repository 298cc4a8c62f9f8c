import { describe, expect, test } from 'vitest';
import { findGuestTools, neededTools, whyNoGuest } from './image/find-guest-tools.ts';
import { runInGuest } from './run/run-in-guest.ts';

const FILES = ['test/agent/real-kernel.process.test.ts', 'test/agent/observe/cgroup/real-cgroups.process.test.ts'];
const VITEST = 'node node_modules/vitest/vitest.mjs run --reporter=json --outputFile=/report.json';
const SCRIPT = `${VITEST} "$@" >&2; code=$?; cat /report.json; exit $code`;
/** A busy machine takes minutes for what an idle one does in one. */
const TIMEOUT_MS = 720_000;

const tools = findGuestTools();
const reason = whyNoGuest(tools);

interface TestResult {
  readonly status: string;
  readonly fullName: string;
  readonly failureMessages: readonly string[] | null;
}

/** What this test looks at in the report of a test run. */
interface Report {
  readonly testResults: readonly {
    /** Empty unless the file itself failed. */
    readonly message: string;
    readonly assertionResults: readonly TestResult[];
  }[];
}

describe.skipIf(reason !== undefined)(`a kernel with cgroup v2 and PSI${reason ?? ''}`, () => {
  test(
    'passes every test of agent and sources that this machine passes',
    { timeout: TIMEOUT_MS + 20_000 },
    async () => {
      const command = ['sh', '-c', SCRIPT, 'sh', ...FILES];
      const run = await runInGuest(neededTools(tools), { command, env: { CI: 'true' }, timeoutMs: TIMEOUT_MS });
      const { testResults } = JSON.parse(run.stdout || '{"testResults":[]}') as Report;
      const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
      const others = tests.filter(({ status }) => status !== 'passed').map(inWords);
      const unreadable = testResults.map(({ message }) => message).filter((message) => message !== '');
      if (others.length + unreadable.length > 0) throw new Error([...others, ...unreadable].join('\n\n'));
      if (testResults.length !== FILES.length) throw new Error(`not all files were run: ${run.console.slice(-3000)}`);
      expect(tests.length).toBeGreaterThan(FILES.length);
      expect(run.status).toBe(0);
    },
  );
});

function inWords({ status, fullName, failureMessages }: TestResult): string {
  return [`${status}: ${fullName}`, ...(failureMessages ?? [])].join('\n');
}
