import { get } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll } from 'vitest';
import type { Component } from '#test/cluster/support/control-plane/component.ts';
import type { OwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { startSecondScheduler } from '#test/cluster/support/control-plane/second-scheduler.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { type RecordedQuestions, recordQuestions } from '#test/cluster/scheduler/recorded-questions.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';

/** The scheduler that asks the extender. */
export const OURS = 'plimsoll';

/** A kube-scheduler with the extender, beside that of the control plane, which has none. */
export interface SecondWithExtender {
  readonly extender: SchedulerProcess;
  readonly port: number;
  /** What kube-scheduler asked the extender. */
  readonly questions: RecordedQuestions;
  /** What Prometheus would read from kube-scheduler. */
  readonly metrics: () => Promise<string>;
}

/** Registers hooks of the present `describe` that start and end both processes. */
export function secondWithExtender(own: () => OwnCluster): () => SecondWithExtender {
  let second: Component | undefined;
  let running: SecondWithExtender | undefined;
  beforeAll(async () => {
    const { cluster } = own();
    const { kubeconfig } = cluster;
    const [port = 0, securePort = 0] = await freePorts(2);
    const extender = await startSchedulerProcess(kubeconfig, port);
    const questions = await recordQuestions(port);
    running = { extender, port, questions, metrics: () => readMetrics(securePort) };
    const configuration = configurationOf(questions.port);
    second = startSecondScheduler(cluster, { kubeconfig, configuration, securePort });
  }, 120_000);
  afterAll(async () => {
    await second?.stop('SIGKILL');
    await running?.questions.stop();
    await running?.extender.stop();
  });
  return () => {
    if (running === undefined) throw new Error('the extender is not up');
    return running;
  };
}

function configurationOf(port: number): object {
  const verbs = { preemptVerb: 'preempt', filterVerb: 'filter', nodeCacheCapable: true };
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    leaderElection: { leaderElect: false },
    profiles: [{ schedulerName: OURS }],
    extenders: [{ urlPrefix: `http://127.0.0.1:${port}`, ...verbs, ignorable: true, httpTimeout: '2s' }],
  };
}

/** Its certificate is its own. */
function readMetrics(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const url = `https://127.0.0.1:${port}/metrics`;
    get(url, { rejectUnauthorized: false, agent: false }, (answer) => resolve(text(answer))).on('error', reject);
  });
}
