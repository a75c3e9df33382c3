//! Ways out of the sandbox, each of which must lead nowhere, in every mode that does not ask first.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, UdpSocket},
    os::unix::{fs::MetadataExt as _, net::UnixListener},
    path::Path,
    process::{Child, Command, Stdio},
};

use kernel::{approvals::Mode, toolbox::Caller};
use serde_json::json;
use tools::sandbox::Lock;

use super::{Plan, Yard, locks, running::until_nobody_reads};

/// `OUT` is a folder outside, `HOME` the person's own, `DATA` ours, `VICTIM` a process outside.
const WAYS: &[&str] = &[
    // Writing.
    "echo x > OUT/new",
    "echo x >> OUT/file",
    ": > OUT/file",
    "truncate -s 0 OUT/file",
    "perl -e 'truncate(\"OUT/file\", 0)'",
    "rm -f OUT/file",
    "mv OUT/file mine",
    "echo x > mine; mv mine OUT/new",
    "echo x > mine; ln mine OUT/new",
    "echo x > mine; cp mine OUT/file",
    "ln OUT/file hard && echo x > hard",
    "ln -s OUT link && echo x > link/new",
    "ln -s OUT/file link2 && echo x > link2",
    "echo x > /proc/self/root/OUT/new",
    "echo x > /proc/self/cwd/../outside/new",
    "cd OUT && echo x > new",
    "mkdir OUT/new",
    "mkfifo OUT/new",
    "ln -s x OUT/new",
    "chmod 777 OUT/file",
    "chmod 777 OUT",
    "touch -d 2001-01-01 OUT/file",
    "chown 1 OUT/file",
    "setfattr -n user.x -v x OUT/file",
    "exec 3< OUT; cd /proc/self/fd/3 && echo x > new",
    // In other ways than directly.
    "bash -c 'echo x > OUT/new' &",
    "nohup bash -c 'echo x > OUT/new'",
    "setsid bash -c 'echo x > OUT/new'",
    "echo 'echo x > OUT/new' | at now",
    "echo '* * * * * echo x > OUT/new' | crontab -",
    "sudo -n sh -c 'echo x > OUT/new'",
    "su -c 'echo x > OUT/new'",
    "unshare -Ur sh -c 'echo x > OUT/new'",
    "unshare -Urm sh -c 'mount -o remount,rw / ; mount --bind /tmp /mnt; echo x > OUT/new'",
    "mount -o remount,rw /; mount -o remount,bind,rw OUT; echo x > OUT/new",
    "nsenter -t 1 -a sh -c 'echo x > OUT/new'",
    "nsenter -t VICTIM -a sh -c 'echo x > OUT/new'",
    "chroot / sh -c 'echo x > OUT/new'",
    "echo x > /proc/VICTIM/root/OUT/new",
    "echo x > /proc/VICTIM/cwd/new",
    "systemd-run --user sh -c 'echo x > OUT/new'",
    "mknod disk b 8 0 && cat disk",
    // Reading.
    "cat HOME/.ssh/id",
    "cat HOME/.netrc",
    "cat ~/.ssh/id",
    "cat DATA/key",
    "cp HOME/.ssh/id mine; cat mine",
    "ln -s HOME/.ssh door; cat door/id",
    "ln HOME/.ssh/id hard2; cat hard2",
    "cat /proc/self/root/HOME/.ssh/id",
    "cat /proc/VICTIM/root/HOME/.ssh/id",
    "tar c HOME",
    "mv HOME/.ssh mine; cat mine/id",
    "cat OUT/file",
    "env; cat /proc/self/environ /proc/1/environ /proc/$PPID/environ /proc/VICTIM/environ",
    "cat /proc/VICTIM/fd/0 < /dev/null",
    // Others.
    "kill -9 VICTIM",
    "perl -e 'kill 9, VICTIM'",
    "prlimit --pid VICTIM --cpu=1",
    "gdb -p VICTIM --batch",
    "strace -p VICTIM",
    // The network.
    "exec 3<>/dev/tcp/127.0.0.1/TCP && echo SECRET",
    "echo x > /dev/udp/127.0.0.1/UDP",
    "perl -MSocket -e 'socket(S,PF_UNIX,SOCK_STREAM,0) or die; \
     connect(S,sockaddr_un(\"OUT/socket\")) or die; print \"SECRET\"'",
];

/// A process of the person's, with something to lose.
struct Victim(Child);

impl Victim {
    fn new(folder: &Path) -> Self {
        let mut cat = Command::new("cat");
        cat.env("SECRET", "SECRET")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        Self(cat.spawn().unwrap())
    }

    /// Still does what it did.
    fn proves_well(mut self) -> bool {
        self.0.stdin.take().unwrap().write_all(b"well\n").unwrap();
        let mut line = String::new();
        BufReader::new(self.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        self.0.wait().unwrap().success() && line == "well\n"
    }
}

/// All that can be seen of what is outside the room.
fn outside(yard: &Yard) -> BTreeMap<String, (u32, u32, i64, Option<String>)> {
    let mut seen = BTreeMap::new();
    let mut folders = vec![yard.path("outside"), yard.path("home"), yard.path("data")];
    while let Some(folder) = folders.pop() {
        let mut paths = vec![folder.clone()];
        paths.extend(fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()));
        for path in paths {
            let about = fs::symlink_metadata(&path).unwrap();
            if about.is_dir() && path != folder {
                folders.push(path.clone());
            }
            let content = fs::read_to_string(&path).ok().filter(|_| about.is_file());
            let name = path.display().to_string();
            seen.insert(name, (about.mode(), about.uid(), about.mtime(), content));
        }
    }
    seen
}

async fn no_way_leads_out(mode: Mode, lock: Lock) {
    let yard = Yard::new(Plan { mode, ..Plan::locked(lock) }).await;
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let unix = UnixListener::bind(yard.path("outside/socket")).unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    unix.set_nonblocking(true).unwrap();
    let victim = Victim::new(&yard.path("outside"));
    let before = outside(&yard);
    for way in WAYS {
        let command = way
            .replace("OUT", &yard.path("outside").display().to_string())
            .replace("HOME", &yard.path("home").display().to_string())
            .replace("DATA", &yard.path("data").display().to_string())
            .replace("VICTIM", &victim.0.id().to_string())
            .replace("TCP", &tcp.local_addr().unwrap().port().to_string())
            .replace("UDP", &udp.local_addr().unwrap().port().to_string());
        // All of it runs in one room, so what one way leaves there must not hinder the next.
        let command = format!("rm -rf mine hard hard2 link link2 door disk; {command}");
        let args = json!({ "command": command, "timeout_seconds": 60 });
        let reply = yard.call_as(Caller::Model, "shell", args).await.unwrap();
        let text = reply.text;
        assert!(text.starts_with("sandboxed: folder, no network\n"), "{way}: {text}");
        assert!(!text.contains("cannot run this"), "{way}: {text}");
        assert!(!text.contains("SECRET"), "{lock:?}: {way}: {text}");
        assert_eq!(outside(&yard), before, "{lock:?}: {way}: {text}");
    }
    assert!(tcp.accept().is_err() && unix.accept().is_err() && udp.recv(&mut [0]).is_err());
    assert!(victim.proves_well());
}

#[tokio::test]
async fn no_way_leads_out_where_edits_are_allowed() {
    for lock in locks().await {
        no_way_leads_out(Mode::AutoSafe, lock).await;
    }
}

#[tokio::test]
async fn no_way_leads_out_where_everything_is_allowed() {
    for lock in locks().await {
        no_way_leads_out(Mode::Full, lock).await;
    }
}

/// Otherwise nothing above would prove anything: without the sandbox the ways lead out.
#[tokio::test]
async fn without_the_sandbox_there_are_ways_out() {
    let yard = Yard::new(Plan::default()).await;
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let victim = Victim::new(&yard.path("outside"));
    let command = format!(
        "cat ../home/.ssh/id ../data/key; ln ../outside/file hard; echo x > hard; \
         chmod 700 ../outside/file; exec 3<>/dev/tcp/127.0.0.1/{port}; \
         cat /proc/{0}/environ; kill -9 {0}",
        victim.0.id()
    );
    let (_, end, printed) = yard.run(json!({ "command": command })).await;
    assert_eq!(end, "exit code 0", "{printed}");
    assert!(printed.contains("SECRETSECRET") && printed.contains("SECRET=SECRET"), "{printed}");
    assert_eq!(fs::read_to_string(yard.path("outside/file")).unwrap(), "x\n");
    let mode = fs::metadata(yard.path("outside/file")).unwrap().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(tcp.accept().is_ok());
    let Victim(mut victim) = victim;
    assert!(!victim.wait().unwrap().success());
}

/// And inside, what is wanted works.
#[tokio::test]
async fn inside_there_is_work_to_be_done() {
    for lock in locks().await {
        let yard = Yard::new(Plan::locked(lock)).await;
        let command = "set -e; mkdir -p a/b; echo x > a/b/c; mv a/b/c a/d; ln -s d a/e; cat a/e; \
                       echo y > $TMPDIR/t; cat $TMPDIR/t; rm -r a; ls /usr > /dev/null; \
                       cat /etc/passwd > /dev/null; echo <(:) > /dev/null; test -r /proc/self/stat; \
                       sleep 1000 & kill $!; echo done";
        let (_, end, printed) = yard.run(json!({ "command": command })).await;
        assert_eq!((end.as_str(), printed.as_str()), ("exit code 0", "x\ny\ndone\n"), "{lock:?}");
    }
}

#[tokio::test]
async fn what_detaches_itself_ends_with_the_call() {
    for lock in locks().await {
        let yard = Yard::new(Plan::locked(lock)).await;
        let command = "mkfifo fifo; (setsid nohup cat <> fifo > /dev/null 2>&1 &); \
                       read -t 0 < /dev/null; echo away";
        let (_, _, printed) = yard.run(json!({ "command": command })).await;
        assert_eq!(printed, "away\n");
        until_nobody_reads(&yard).await;
    }
}

#[tokio::test]
async fn a_toolchain_can_be_read_and_not_changed() {
    for lock in locks().await {
        let yard = Yard::new(Plan::locked(lock)).await;
        let before = outside(&yard);
        let command = "cat ~/.cargo/tool; echo x > ~/.cargo/tool; rm -f ~/.cargo/tool; \
                       chmod 0 ~/.cargo/tool; touch ~/.cargo/new";
        let (_, _, printed) = yard.run(json!({ "command": command })).await;
        assert!(printed.starts_with("tool"), "{printed}");
        assert_eq!(outside(&yard), before, "{lock:?}: {printed}");
        let opened = "perl -e 'open(F, \"<$ENV{HOME}/.cargo/tool\"); chmod(04755, *F)'";
        yard.run(json!({ "command": opened })).await;
        if lock == Lock::Namespaces || rustix::process::getuid().is_root() {
            assert_eq!(outside(&yard), before, "{lock:?}");
        } else {
            println!("not tested: under Landlock alone this is known to be possible");
        }
    }
}

#[tokio::test]
async fn the_number_of_processes_is_bounded() {
    let bomb = "perl -e 'for (1..1000) { $p = fork; last if !defined $p; \
                if (!$p) { sleep 1000; exit } $n++ } print $n + 0'";
    for lock in locks().await {
        let yard = Yard::new(Plan::locked(lock)).await;
        let (_, _, printed) = yard.run(json!({ "command": bomb })).await;
        let count: u32 = printed.parse().unwrap();
        if rustix::process::getuid().is_root() && lock == Lock::Landlock {
            println!("root is not bound without namespaces: {count} processes");
        } else if lock == Lock::Namespaces && count >= 1000 {
            println!("this system has no bound for root in a namespace: {count} processes");
            assert!(rustix::process::getuid().is_root());
        } else if lock == Lock::Namespaces {
            assert!(count < 302, "{count}");
        }
    }
}

#[tokio::test]
async fn a_folder_that_holds_secrets_does_not_show_them() {
    for lock in locks().await {
        let yard = Yard::new(Plan { mode: Mode::AutoSafe, ..Plan::locked(lock) }).await;
        let whole = yard.host.create(&yard.path(""), "test", "").await.unwrap();
        let command = "cat home/.ssh/id home/.netrc data/key; rm -rf home/.ssh; mv data mine; \
                       echo y > home/mine; cat home/mine";
        let yard = Yard { session: whole, ..yard };
        let (note, _, printed) = {
            let args = json!({ "command": command });
            if lock == Lock::Landlock {
                // It cannot be hidden there, and so the person would be asked.
                let args = json!({ "command": command, "sandbox": true });
                let error = yard.call("shell", args).await.unwrap_err().to_string();
                assert!(error.ends_with("which cannot be hidden without namespaces"), "{error}");
                continue;
            }
            yard.run(args).await
        };
        assert_eq!(note, "sandboxed: folder, no network");
        assert!(printed.ends_with("y\n") && !printed.contains("SECRET"), "{printed}");
        for file in ["home/.ssh/id", "home/.netrc", "data/key"] {
            assert_eq!(fs::read_to_string(yard.path(file)).unwrap(), "SECRET");
        }
    }
}
