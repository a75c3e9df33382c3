// What frames are lent, for what tests run inside of them.
import '../packages/app-sdk';
