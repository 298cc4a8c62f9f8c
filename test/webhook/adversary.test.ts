import { describe } from 'vitest';
import { ATTACKS } from './adversary/attacks.ts';
import { sandboxSurface } from './adversary/sandbox-surface.ts';
import { stage } from './adversary/stage.ts';

describe('a tenant with the edit role, in the sandbox', () => {
  const here = stage(sandboxSurface());
  for (const attack of ATTACKS) attack(here);
});
