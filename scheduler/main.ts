/** The scheduler process: answers kube-scheduler which victims of a preemption may go. */
import { runProgram } from '#shared/runtime/run-program.ts';
import { schedulerSchema } from './configuration.ts';
import { startScheduler } from './scheduler.ts';

await runProgram({
  component: 'scheduler',
  kind: 'SchedulerConfiguration',
  schema: schedulerSchema,
  start: startScheduler,
});
