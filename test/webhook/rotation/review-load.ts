import { request as httpsRequest } from 'node:https';
import { WEBHOOK_PATHS } from '#shared/kube/admission/webhook-configurations.ts';
import { FITTING } from '#test/webhook/bad-inputs/bad-input.ts';
import { createPodReview, pod, readAnswer } from '#test/webhook/support/reviews.ts';
import { letTimePass } from '#test/build/waiting.ts';

/** A review and how it must be answered; each is decided from caches, so no other server's delay is in the answer. */
interface Question {
  readonly path: string;
  readonly body: () => string;
  readonly expected: string;
}

const QUESTIONS: readonly Question[] = [
  {
    path: WEBHOOK_PATHS.mutate,
    body: () => createPodReview(pod({ priorityClassName: 'standard' })),
    expected: 'allowed, sets /spec/priority',
  },
  {
    path: WEBHOOK_PATHS.validate,
    body: () => createPodReview(pod({ ...FITTING, priority: 'high' })),
    expected: 'refused with 400',
  },
  {
    path: WEBHOOK_PATHS.validate,
    body: () => createPodReview(pod(FITTING)),
    expected: 'allowed',
  },
];

function describeAnswer(status: number, body: string): string {
  if (status !== 200) return `HTTP ${status} ${body}`;
  const { allowed, code, patch } = readAnswer(body);
  if (!allowed) return `refused with ${code}`;
  return ['allowed', ...pathsOf(patch).filter((path) => path === '/spec/priority')].join(', sets ');
}

function pathsOf(patch: unknown): readonly string[] {
  return ((patch ?? []) as readonly { path: string }[]).map(({ path }) => path);
}

/** One review on a fresh connection: its answer, or what kept it from one, unless it is as expected. */
function ask(port: number, ca: string, { path, body, expected }: Question): Promise<string | undefined> {
  const headers = { 'Content-Type': 'application/json' };
  const options = { port, host: '127.0.0.1', path, method: 'POST', headers, ca, agent: false };
  return new Promise((resolve) => {
    const finish = (answer: string): void => resolve(answer === expected ? undefined : `${path}: ${answer}`);
    const request = httpsRequest(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('error', (error) => finish(String(error)));
      response.on('end', () => finish(describeAnswer(response.statusCode ?? 0, text)));
    });
    request.on('error', (error) => finish(String(error))).end(body());
  });
}

/** Reviews that are asked without end. */
export interface ReviewLoad {
  /** Resolves with one entry for each review: what was wrong with its answer, if anything. */
  stop(): Promise<readonly (string | undefined)[]>;
}

/** A machine too busy for the rate gets fewer, instead of a heap of them. */
const MAX_OPEN = 25;

/** Asks at the rate until stopped, each time trusting the bundle of then. */
export function startLoad(port: number, perSecond: number, bundle: () => string): ReviewLoad {
  const done = new AbortController();
  const answers: Promise<string | undefined>[] = [];
  let open = 0;
  const running = (async () => {
    while (!done.signal.aborted) {
      await letTimePass(1_000 / perSecond, 'load');
      const question = QUESTIONS[answers.length % QUESTIONS.length];
      if (open >= MAX_OPEN || question === undefined) continue;
      open += 1;
      answers.push(ask(port, bundle(), question).finally(() => void (open -= 1)));
    }
  })();
  return {
    stop: async () => {
      done.abort();
      await running;
      return Promise.all(answers);
    },
  };
}
