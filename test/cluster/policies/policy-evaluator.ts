import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { linesOf } from '#test/contract/lines-of.ts';
import { type Environment, ownGoProgram, type Programs } from '#test/cluster/support/control-plane/go-programs.ts';

const MODULE = fileURLToPath(new URL('../go/policies/', import.meta.url));

/** A create, or an update where there is an old object. Events are of the core API unless their group is named. */
export interface AskedOfPolicies {
  readonly kind: string;
  readonly object: object;
  readonly oldObject?: object;
  readonly namespace: string;
  readonly namespaceLabels: Readonly<Record<string, string>>;
  readonly user: string;
  readonly groups: readonly string[];
  /** Of the pod that the token of a service account is bound to. */
  readonly node?: string;
}

/** What one policy makes of a request; costs are in units of CEL. */
export interface PolicyOutcome {
  readonly policy: string;
  readonly matches: boolean;
  readonly denied?: readonly string[];
  readonly errors?: readonly string[];
  /** Whether a patch changed the object. */
  readonly mutated?: boolean;
  readonly cost: number;
  readonly messageCost: number;
}

/** `undecodable` where the API server would not have taken the object to admission at all. */
export interface EvaluatorAnswer {
  readonly undecodable?: string;
  readonly outcomes?: readonly PolicyOutcome[];
}

/** The program of test/cluster/go/policies, which compiles and evaluates with the code of the API server. */
export function findPolicyEvaluator(env: Environment): Programs<'policies'> {
  return ownGoProgram('policies', MODULE, env);
}

/** Evaluates the policies with these parameters on each request, in order. Rejects where they do not compile. */
export async function* evaluatePolicies(
  program: string,
  setup: { readonly policies: readonly object[]; readonly mutating?: readonly object[]; readonly params: object },
  requests: Iterable<AskedOfPolicies>,
): AsyncGenerator<EvaluatorAnswer> {
  const child = spawn(program, [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const send = async (): Promise<void> => {
    for (const message of prepend(setup, requests))
      if (!child.stdin.write(`${JSON.stringify(message)}\n`)) await Promise.race([once(child.stdin, 'drain'), ended]);
    child.stdin.end();
  };
  child.stdin.on('error', () => undefined);
  const sent = send();
  try {
    for await (const line of linesOf(child.stdout)) yield JSON.parse(line) as EvaluatorAnswer;
    await sent;
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`cannot evaluate policies: the program ended with ${code ?? 'a signal'}`);
  } finally {
    child.kill('SIGKILL');
  }
}

function* prepend(first: object, rest: Iterable<object>): Generator<object> {
  yield first;
  yield* rest;
}
