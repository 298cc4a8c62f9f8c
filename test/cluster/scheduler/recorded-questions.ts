import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { at } from '#test/contract/harness.ts';

/** What kube-scheduler asked the extender about a pod, and what it was answered. */
export interface Question {
  readonly verb: string;
  readonly pod: string;
  /** The nodes that were asked about, sorted. */
  readonly nodes: readonly string[];
  readonly answer: unknown;
}

export interface RecordedQuestions {
  /** Where kube-scheduler asks. */
  readonly port: number;
  /** About a pod, by its name or by a pattern of it, in the order in which they were answered. */
  readonly about: (verb: 'preempt' | 'filter', pod: string | RegExp) => readonly Question[];
  readonly stop: () => Promise<void>;
}

/** Passes questions on to the extender on this port, and records them with the answers. */
export async function recordQuestions(extenderPort: number): Promise<RecordedQuestions> {
  const asked: Question[] = [];
  const pass = async (request: IncomingMessage): Promise<string> => {
    const body = await text(request);
    const answer = await fetch(`http://127.0.0.1:${extenderPort}${request.url ?? ''}`, { method: 'POST', body });
    const answered = await answer.text();
    const verb = (request.url ?? '').slice(1);
    asked.push({ verb, ...aboutWhat(JSON.parse(body)), answer: JSON.parse(answered) });
    return answered;
  };
  const server = createServer((request, response) => {
    pass(request).then(
      (answered) => response.writeHead(200, { 'content-type': 'application/json' }).end(answered),
      () => response.writeHead(502).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    about: (verb, pod) => {
      const isAbout = (name: string): boolean => (typeof pod === 'string' ? name === pod : pod.test(name));
      return asked.filter((each) => each.verb === verb && isAbout(each.pod));
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function aboutWhat(args: unknown): Pick<Question, 'pod' | 'nodes'> {
  const named = at(args, 'NodeNames') as readonly string[] | undefined;
  const proposed = at(args, 'NodeNameToMetaVictims') as object | undefined;
  return { pod: String(at(args, 'Pod.metadata.name')), nodes: (named ?? Object.keys(proposed ?? {})).toSorted() };
}

/** The UIDs that an answer to `preempt` names, by node. */
export function namedVictims({ answer }: Question): Readonly<Record<string, readonly string[]>> {
  const nodes = at(answer, 'NodeNameToMetaVictims') as Readonly<
    Record<string, { readonly Pods: readonly { UID: string }[] }>
  >;
  return Object.fromEntries(Object.entries(nodes).map(([node, { Pods }]) => [node, Pods.map(({ UID }) => UID).sort()]));
}
