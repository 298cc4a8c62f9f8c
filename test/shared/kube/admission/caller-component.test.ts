import { expect, test } from 'vitest';
import { callerComponent } from '#shared/kube/admission/cel-expressions.ts';

test.each([
  ['system:serviceaccount:plimsoll-node:plimsoll-agent', 'Agent'],
  ['system:serviceaccount:plimsoll-system:plimsoll-scheduler', 'Scheduler'],
  ['system:serviceaccount:plimsoll-system:plimsoll-queues', 'Scheduler'],
  ['system:serviceaccount:plimsoll-system:plimsoll-rescheduling', 'Scheduler'],
  ['system:serviceaccount:other:plimsoll-queues', 'Others'],
  ['system:kube-scheduler', 'KubeScheduler'],
  ['system:node:node-1', 'Kubelet'],
  ['somebody', 'Others'],
])('the removals of %s count for the component %s', (user, component) => {
  expect(callerComponent(user)).toBe(component);
});
