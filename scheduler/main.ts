/** The scheduler process: extender of kube-scheduler, node controller and dashboard, each of which can be off. */
import { runProgram } from '#shared/runtime/run-program.ts';
import { RENAMED, schedulerSchema } from './configuration.ts';
import { startScheduler } from './scheduler.ts';

await runProgram({
  component: 'scheduler',
  kind: 'SchedulerConfiguration',
  schema: schedulerSchema,
  renamed: RENAMED,
  start: startScheduler,
});
