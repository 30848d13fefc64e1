# SPDX-License-Identifier: LGPL-2.1-or-later
# What the lines that fish.awk makes ask; `generate' puts it before them.

function __laplace_subcommand # NAME: is it this one?  Without a name: is there none yet?
    set -l words (commandline -opc)
    if set -q argv[1]
        test "$words[2]" = $argv[1]
    else
        test (count $words) = 1
    end
end

# The words that may follow in a list, behind those that are there; in one that is joined by
# commas each comes once.
function __laplace_list # SEPARATOR WORD...
    set -l kept (string match -r "^(?:--[a-z-]+=)?(.*\\$argv[1])?" -- (commandline -ct))[2]
    for word in $argv[2..]
        if test $argv[1] = +; or not contains -- $word (string split , -- "$kept")
            echo $kept$word
        end
    end
end

# The number of the argument to be completed, from 1 on, less those that are values of options.
function __laplace_argument # SUBCOMMAND NUMBER OPTION-WITH-A-VALUE...
    __laplace_subcommand $argv[1]; or return
    set -l number 1
    set -l previous ''
    for word in (commandline -opc)[3..]
        if contains -- "$previous" $argv[3..]
            set previous ''
            continue
        end
        set previous $word
        string match -q -- '-*' $word; or set number (math $number + 1)
    end
    not contains -- "$previous" $argv[3..]; and test $number = $argv[2]
end

complete -c laplace -n __laplace_subcommand -f
complete -c laplace -n __laplace_subcommand -s V -l version -d 'Print program version'
complete -c laplace -n __laplace_subcommand -l help -d 'Give this help list'
complete -c laplace -n __laplace_subcommand -a help -d 'tell the options of a subcommand'
