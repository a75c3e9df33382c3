// Waiting before another try, cut short when there is reason to believe that it will do better.
import { backoff } from './connection';

export class Patience {
  private sleepers = new Set<() => void>();

  pause(attempts: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, backoff(attempts, Math.random()));
      this.sleepers.add(wake);
    });
  }

  wake() {
    for (const wake of [...this.sleepers]) wake();
  }
}
