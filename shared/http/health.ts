import type { Metrics } from '#shared/runtime/metrics.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { failureStatus } from './status.ts';

/** A named condition of readiness. */
export interface HealthCheck {
  readonly name: string;
  /** What is missing, in words; `undefined` when all is well. */
  readonly problem: () => string | undefined;
}

export interface HealthSources {
  /** Asked by `/readyz`. */
  readonly checks: readonly HealthCheck[];
  readonly metrics: Metrics;
  /** Shown by `/configz`, secrets redacted. */
  readonly configuration: unknown;
}

export interface HealthAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json';

/** Answers `/livez`, `/readyz` (`?verbose` lists the checks), `/metrics` and `/configz`; 404 for any other path. */
export async function answerHealth(
  sources: HealthSources,
  path: string,
  query: URLSearchParams,
): Promise<HealthAnswer> {
  switch (path) {
    case '/livez':
      // Answering is all that a restart would cure.
      return answerChecks('livez', [], query.has('verbose'));
    case '/readyz':
      return answerChecks('readyz', sources.checks, query.has('verbose'));
    case '/metrics':
      return answerMetrics(sources);
    case '/configz':
      return { status: 200, contentType: JSON_TYPE, body: JSON.stringify(redactSecrets(sources.configuration)) };
    default:
      return { status: 404, contentType: JSON_TYPE, body: JSON.stringify(failureStatus(404, 'Path not found')) };
  }
}

/** Failing checks are also a metric: an unready replica gets no traffic, but monitoring still scrapes it. */
async function answerMetrics({ checks, metrics }: HealthSources): Promise<HealthAnswer> {
  const passed = metrics.gauge('plimsoll_check_passed', 'Whether a check of /readyz passes (1) or fails (0)', [
    'check',
  ]);
  for (const check of checks) passed.set(problemOf(check) === undefined ? 1 : 0, { check: check.name });
  return { status: 200, contentType: metrics.contentType, body: await metrics.text() };
}

/** The API server's own shape: `ok`, or one line per check when asked or when something is missing. */
function answerChecks(name: string, checks: readonly HealthCheck[], verbose: boolean): HealthAnswer {
  const results = checks.map((check) => ({ name: check.name, problem: problemOf(check) }));
  const isWell = results.every(({ problem }) => problem === undefined);
  if (isWell && !verbose) return { status: 200, contentType: TEXT, body: 'ok' };
  const lines = results.map((result) =>
    result.problem === undefined ? `[+]${result.name} ok` : `[-]${result.name} failed: ${result.problem}`,
  );
  const body = [...lines, `${name} check ${isWell ? 'passed' : 'failed'}`, ''].join('\n');
  return { status: isWell ? 200 : 503, contentType: TEXT, body };
}

function problemOf(check: HealthCheck): string | undefined {
  try {
    return check.problem();
  } catch (error) {
    return errorText(error);
  }
}

const SECRET_KEY = /token|password|secret|authorization|private|key(pem)?$/i;
/** Names that look secret and are not: where a secret lies, or what it is called. */
const PLAIN_KEY = /(file|path|name|mode|namespace)$/i;
const DEEPEST = 32;

/** A copy for people to read: values under keys that sound secret are replaced, whatever their depth. */
function redactSecrets(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEEPEST) return '[too deep]';
  if (Array.isArray(value)) return value.map((item) => redactSecrets(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      isSecret(key, child) ? '[redacted]' : redactSecrets(child, depth + 1),
    ]),
  );
}

function isSecret(key: string, value: unknown): boolean {
  return typeof value === 'string' && SECRET_KEY.test(key) && !PLAIN_KEY.test(key);
}
